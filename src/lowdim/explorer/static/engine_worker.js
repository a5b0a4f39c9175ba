// The core in a Worker. The Worker is made from the text of this function, which therefore uses nothing outside of it.
// Messages to it: {id, deed, …}; from it: {id, …answer}, {id, error, kind} and, under way, {id, stage, done, total}
// or {id, stage, frame, done, total, loss}.
export function engineWorker(scope) {
  const WASI_NONE = 52; // "function not supported"
  const FRAME = 50; // milliseconds between two frames
  const [RUNNING, STOPPED, PAUSED] = [0, 1, 2];
  const PARAMETERS = ["perplexity", "early_exaggeration", "exaggeration", "n_neighbors", "min_dist", "spread", "repulsion_strength",
    "negative_sample_rate", "MN_ratio", "FP_ratio", "iterations", "seed", "every"];
  const USUAL = { perplexity: 0, early_exaggeration: 12, exaggeration: 1, n_neighbors: 0, min_dist: 0.1, spread: 1, repulsion_strength: 2,
    negative_sample_rate: 5, MN_ratio: 0.5, FP_ratio: 2, iterations: 0, seed: 0 };
  const METHODS = ["tsne", "umap", "pacmap"];
  let core = null, memory = null, job = null, control = null, n = 0, d = 0;

  class Failure extends Error { constructor(kind, words) { super(words); this.kind = kind; } }

  const view = () => new DataView(memory.buffer);
  // Copies: a shared memory grows, and its views cannot be sent or decoded.
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length).slice();
  const floats = (at, length) => new Float32Array(bytes(at, 4 * length).buffer);
  const doubles = (at, length) => new Float64Array(bytes(at, 8 * length).buffer);
  const integers = (at, length) => new Int32Array(bytes(at, 4 * length).buffer);
  const write = (at, values) => new values.constructor(memory.buffer, at, values.length).set(values);

  function textAt(at) {
    const all = new Uint8Array(memory.buffer);
    let end = at;
    while (all[end]) end++;
    return new TextDecoder().decode(all.slice(at, end));
  }

  function tell(stage, done, total, loss, Y) {
    if (!job) return 0;
    const now = performance.now();
    if (Y ? now - job.shown >= FRAME || done <= job.every : stage !== job.stage || now - job.told >= 200) {
      if (Y) {
        const frame = floats(Y, 2 * n);
        job.shown = now;
        scope.postMessage({ id: job.id, stage, frame, done, total, loss }, [frame.buffer]);
      } else scope.postMessage({ id: job.id, stage, done, total });
      job.stage = stage;
      job.told = now;
    }
    if (!control) return 0;
    while (Atomics.load(control, 0) === PAUSED) Atomics.wait(control, 0, PAUSED);
    return Atomics.load(control, 0) === STOPPED ? 1 : 0;
  }

  const WORDS = {
    2: "The page has not enough memory for this. Use fewer rows or columns, a lower perplexity or fewer neighbours, or lowdim in Python.",
    3: "The computation failed for a reason that is ours",
  };
  const imports = () => ({
    env: { memory },
    page: { tell, fail: (kind, words) => { throw new Failure(kind, kind === 1 ? textAt(words) : WORDS[kind] + (kind === 3 ? ` (${textAt(words)}).` : "")); } },
    wasi_snapshot_preview1: new Proxy({
      clock_time_get: (clock, precision, out) => { view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true); return 0; },
      environ_sizes_get: (count, size) => { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; },
      environ_get: () => 0,
    }, { get: (known, name) => known[name] ?? (() => WASI_NONE) }),
  });

  // Room for arrays, given back when the work is done.
  function within(work) {
    const rooms = [];
    const room = (length) => { const at = core.lowdim_room(Math.max(64, length)) >>> 0; rooms.push(at); return at; };
    const put = (values) => { const at = room(values.byteLength); write(at, values); return at; };
    const out = work(room, put);
    for (const at of rooms) core.lowdim_free(at);
    return out;
  }

  // Iterations between two reports: each costs about one of UMAP's, for the loss.
  const everyOf = () => Math.max(1, Math.min(20, Math.round(3e5 / n)));
  const parametersOf = (given) => Float64Array.from(PARAMETERS, (name) => Number(given?.[name] ?? USUAL[name] ?? everyOf()));
  const deeds = {
    // Compiles the module; `shared` memory lets helpers in and `stop` and `pause` through.
    async open({ module, threads = 1, canShare = false }) {
      memory = new WebAssembly.Memory({ initial: 256, maximum: 65535, shared: true });
      const made = await WebAssembly.instantiate(module, imports());
      core = (made.instance ?? made).exports;
      core._initialize();
      core.lowdim_threads(threads);
      if (!canShare) return {};
      const at = core.lowdim_room(64) >>> 0;
      control = new Int32Array(memory.buffer, at, 1);
      const stacks = Array.from({ length: threads - 1 }, () => (core.lowdim_room(1 << 20) >>> 0) + (1 << 20));
      return { memory, control: at, stacks };
    },
    // A helper: shares the memory of another Worker, and does not return.
    async help({ module, memory: shared, stack }) {
      memory = shared;
      const made = await WebAssembly.instantiate(module, imports());
      core = (made.instance ?? made).exports;
      core.__stack_pointer.value = stack;
      core.lowdim_help();
      return {};
    },
    table({ rows, n: count, d: columns }) {
      const at = core.lowdim_table(count, columns) >>> 0;
      [n, d] = [count, columns];
      write(at, rows);
      core.lowdim_prepare();
      return {};
    },
    scores({ k }) {
      return within((room) => {
        const [out, shares] = [room(4 * n * k), room(8 * k)];
        core.lowdim_scores(k, out, shares);
        return { scores: floats(out, n * k), shares: doubles(shares, k) };
      });
    },
    scoresOf({ rows, k }) {
      const m = rows.length / d;
      return within((room, put) => {
        const out = room(4 * m * k);
        core.lowdim_scores_of(put(rows), m, k, out);
        return { scores: floats(out, m * k) };
      });
    },
    axes({ k }) {
      return within((room) => {
        const out = room(4 * k * d);
        core.lowdim_axes(k, out);
        return { axes: floats(out, k * d) };
      });
    },
    near({ k }) {
      return within((room) => {
        const [indices, distances] = [room(4 * n * k), room(4 * n * k)];
        core.lowdim_near(k, indices, distances);
        return { indices: integers(indices, n * k), distances: floats(distances, n * k) };
      });
    },
    nearNew({ rows, k }) {
      const m = rows.length / d;
      return within((room, put) => {
        const [indices, distances] = [room(4 * m * k), room(4 * m * k)];
        core.lowdim_near_new(put(rows), m, k, indices, distances);
        return { indices: integers(indices, m * k), distances: floats(distances, m * k) };
      });
    },
    embed({ method, parameters, from }) {
      const given = parametersOf(parameters), started = performance.now();
      job.every = given[PARAMETERS.indexOf("every")];
      return within((room, put) => {
        const Y = from ? put(from) : room(8 * n), made = room(32);
        core.lowdim_embed(METHODS.indexOf(method), put(given), from ? 1 : 0, Y, made);
        const [loss, iterations, neighbors, spectral] = doubles(made, 4);
        const stopped = control ? Atomics.load(control, 0) === STOPPED : false;
        return { positions: floats(Y, 2 * n), loss, iterations, neighbors, spectral: Boolean(spectral), stopped,
          seconds: (performance.now() - started) / 1000, bytes: memory.buffer.byteLength };
      });
    },
    place({ method, parameters, map, rows }) {
      const m = rows.length / d;
      return within((room, put) => {
        const [out, trust] = [room(8 * m), room(4 * m)];
        core.lowdim_place(METHODS.indexOf(method), put(parametersOf(parameters)), put(map), put(rows), m, out, trust);
        return { positions: floats(out, 2 * m), trust: floats(trust, m) };
      });
    },
    kept({ map, k, rows }) {
      return within((room, put) => {
        const out = room(24);
        core.lowdim_kept(put(map), k, put(rows), rows.length, out);
        const [trustworthiness, continuity, recall] = doubles(out, 3);
        return { trustworthiness, continuity, recall, rows: rows.length };
      });
    },
    misplaced({ map, k }) {
      return within((room, put) => {
        const [wrong, missing] = [room(4 * n), room(4 * n)];
        core.lowdim_misplaced(put(map), k, wrong, missing);
        return { false: floats(wrong, n), missing: floats(missing, n) };
      });
    },
    curve({ min_dist: least }) {
      return within((room) => { const out = room(16); core.lowdim_curve(least, out); return { curve: doubles(out, 2) }; });
    },
  };

  scope.onmessage = async ({ data }) => {
    job = { id: data.id, stage: -1, told: 0, shown: 0, every: 0 };
    try {
      if (control) Atomics.compareExchange(control, 0, STOPPED, RUNNING);
      const answer = await deeds[data.deed](data);
      scope.postMessage({ id: data.id, answer });
    } catch (error) {
      const words = error instanceof RangeError ? WORDS[2] : error instanceof Failure ? error.message : `${WORDS[3]} (${error.message}).`;
      scope.postMessage({ id: data.id, error: words, kind: error.kind ?? 3 });
    }
  };
}
