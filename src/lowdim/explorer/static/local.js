// Answers of the page itself, where the core computes in it: the messages of the explorer, without Python behind them.
import { encodeMessage, decodeMessage } from "./wire.js";
import { savedChannel } from "./saved.js";
import { Stopped, STAGES } from "./engine.js";
import { cellText } from "./files.js";

const OWN_NEAREST = 5; // neighbours of the quality of a map
const JUDGED = 5000, LEAST_JUDGED = 32, MOST_JUDGED = 200, PRODUCTS = 1.9e9; // rows judged: see explorer/map_quality.py
const NAMES = { max_iter: "iterations", n_epochs: "iterations", random_state: "seed" }; // of parameters, for the core
const TITLES = { pca: "PCA", tsne: "TSNE", umap: "UMAP", pacmap: "PaCMAP" };

// Positions as 16-bit fractions of their box.
export function quantised(Y, dims) {
  const n = Y.length / dims, box = [], out = new Uint16Array(Y.length);
  for (let c = 0; c < dims; c++) {
    let [low, high] = [Infinity, -Infinity];
    for (let i = c; i < Y.length; i += dims) { low = Math.min(low, Y[i]); high = Math.max(high, Y[i]); }
    const span = high > low ? high - low : 1;
    for (let i = 0; i < n; i++) out[i * dims + c] = Math.round(((Y[i * dims + c] - low) / span) * 65535);
    box.push([low, low + span]);
  }
  return { positions: out, box };
}

// `messages` as of a saved page; `engine` computes on the rows {n, d}, of which a `reader` makes features of new ones.
export function localChannel(messages, { engine, n, d, newRows = null, refusedNew = "" }) {
  const saved = savedChannel(messages), hello = messages.find((one) => one.type === "hello"), maps = new Map();
  for (const one of hello.maps ?? []) maps.set(one.map, { ...one, saved: true });
  let listener = () => {}, next = 1 + Math.max(0, ...maps.keys()), near = null;
  const push = (fields, arrays = {}) => listener(encodeMessage({ id: null, ...fields }, arrays));
  const described = (one) => ({ map: one.map, method: one.method, title: one.title, parameters: one.parameters, dims: one.dims, status: one.status,
    rows: one.rows ?? "all", pins: one.pins ?? [], message: one.message ?? "", stage: one.stage ?? "", share: one.share ?? null, seconds: one.seconds ?? 0, frame: one.frame ?? 0, quality: one.quality ?? {} });
  const isCurrent = (one) => maps.get(one.map) === one; // neither dropped nor computed anew
  const status = (one, word, more = {}) => { Object.assign(one, { status: word, stage: "", share: null, ...more }); if (isCurrent(one)) push({ type: "status", ...described(one) }); };
  const frame = (one, Y, more = {}) => {
    Object.assign(one, { Y, frame: (one.frame ?? 0) + 1 });
    const { positions, box } = quantised(Y, one.dims);
    return [{ type: "frame", map: one.map, frame: one.frame, dims: one.dims, box, iteration: one.iteration ?? 0, total: one.total ?? 0,
      loss: one.loss ?? null, seconds: one.seconds ?? 0, left: one.left ?? null, final: false, start: false, ...more }, { positions }];
  };
  const mapOf = (id) => { const one = maps.get(id); if (!one) throw new Error(`There is no map ${id}. Choose another.`); return one; };
  const positionsOf = (id) => { const one = mapOf(id); if (!one.Y) throw new Error("This map has no positions that can be computed with. Run it here."); return one; };

  const settingsOf = (method, given) => {
    const known = hello.methods.find((one) => one.name === method)?.parameters.map((one) => one.name) ?? [];
    const strange = Object.keys(given).filter((name) => !known.includes(name));
    if (strange.length) throw new Error(`A page cannot compute with ${strange.map((name) => `${name}=${given[name]}`).join(", ")}: its core knows ${known.join(", ") || "no parameters"} of ${TITLES[method]}. Leave it out, or use lowdim in Python.`);
    const out = {};
    for (const [name, value] of Object.entries(given)) out[NAMES[name] ?? name] = value === "auto" || value === null ? 0 : value;
    return out;
  };

  async function judged(one) {
    const k = Math.min(OWN_NEAREST, Math.floor((n - 1) / 2));
    if (k < 1) return {};
    const few = n <= JUDGED ? n : Math.max(LEAST_JUDGED, Math.min(MOST_JUDGED, Math.floor(PRODUCTS / (n * d)))), step = n / few;
    const rows = Int32Array.from({ length: few }, (_, i) => Math.floor(i * step));
    const { trustworthiness, continuity, recall } = await engine.ask("kept", { map: one.Y, k, rows }, null, one);
    return { trustworthiness, continuity, neighbors_kept: recall, rows: few, of: n };
  }

  // Ends a run at once, also one that still waits behind another question.
  function halt(one) {
    const asking = engine.waiting?.asker === one;
    engine.resume();
    engine.stop(one);
    if (!asking && one.status !== "done") status(one, "stopped", { message: one.Y ? "" : "Stopped before there was a map." });
  }

  async function run(one, from) {
    const begun = performance.now(), spent = () => (performance.now() - begun) / 1000;
    status(one, "running");
    try {
      if (one.method === "pca") {
        const { scores, shares } = await engine.ask("scores", { k: one.dims }, null, one);
        one.shares = shares;
        one.seconds = spent();
        push(...frame(one, scores, { final: true }));
      } else {
        let descending = 0;
        const heard = (told) => {
          one.seconds = spent();
          if (!told.frame) { status(one, "running", { stage: STAGES[told.stage], share: told.total ? told.done / told.total : null }); return; }
          descending ||= performance.now();
          const took = (performance.now() - descending) / 1000;
          Object.assign(one, { iteration: told.done, total: told.total, loss: told.loss, left: told.done > 1 ? (took / told.done) * (told.total - told.done) : null });
          one.trace.push([told.done, told.loss]);
          if (isCurrent(one)) push(...frame(one, told.frame));
        };
        const found = await engine.ask("embed", { method: one.method, parameters: settingsOf(one.method, one.parameters), from: from ? Float32Array.from(from) : null }, heard, one);
        Object.assign(one, { seconds: spent(), iteration: found.iterations, loss: found.loss, left: null, bytes: found.bytes, stopped: found.stopped });
        one.trace.push([found.iterations, found.loss]);
        if (!isCurrent(one)) return;
        push(...frame(one, found.positions, { final: true }));
        push({ type: "loss", map: one.map, name: "loss", iterations: one.trace.map(([i]) => i), values: one.trace.map(([, v]) => v) });
      }
      if (!isCurrent(one)) return;
      status(one, one.stopped ? "stopped" : "done");
      one.quality = await judged(one).catch(() => ({}));
      if (isCurrent(one)) push({ type: "done", map: one.map, seconds: one.seconds, quality: one.quality });
    } catch (error) {
      if (error instanceof Stopped) status(one, "stopped", { message: one.Y ? "" : "Stopped before there was a map." });
      else { status(one, "failed", { message: error.message }); if (isCurrent(one)) push({ type: "error", map: one.map, message: error.message }); }
    }
    one.running = false;
  }

  function fit({ method, parameters = {}, dims = 2, rows = "all", start = null, into = null }) {
    if (!TITLES[method]) throw new Error("A page computes PCA, t-SNE, UMAP and PaCMAP. Choose one of them, or use lowdim in Python.");
    if (rows !== "all") throw new Error("A page computes maps of all rows. Save the selection and open it as a file of its own, or use lowdim in Python.");
    if (dims !== 2 && method !== "pca") throw new Error("A page computes maps in two dimensions. Choose 2, or use lowdim in Python.");
    settingsOf(method, parameters); // refuses what the core does not know
    const old = into === null ? null : mapOf(into), from = start === null ? null : positionsOf(start);
    if (from && from.method !== method) throw new Error(`A map continues by its own method, ${TITLES[from.method]}. Choose it, or run this one from its own start.`);
    if (old?.running) halt(old);
    const one = { map: old?.map ?? next++, method, title: TITLES[method], parameters, dims, frame: old?.frame ?? 0, trace: [], running: true, status: "waiting" };
    maps.set(one.map, one);
    queueMicrotask(() => run(one, from?.Y ?? null));
    return described(one);
  }

  async function neighbours({ row, k, map }) {
    near ??= engine.ask("near", { k: Math.min(k, n - 1) }).catch((error) => { near = null; throw error; });
    const { indices, distances } = await near, wide = indices.length / n, count = Math.min(k, wide), one = maps.get(map);
    const index = Int32Array.from(indices.subarray(row * wide, row * wide + count)), kept = new Uint8Array(count);
    if (one?.Y) { // near on the map: among its 2k nearest there
      const { Y, dims } = one, apart = (i) => { let sum = 0; for (let c = 0; c < dims; c++) sum += (Y[i * dims + c] - Y[row * dims + c]) ** 2; return sum; };
      for (let j = 0; j < count; j++) {
        const reach = apart(index[j]);
        let closer = 0;
        for (let i = 0; i < n; i++) if (i !== row && apart(i) < reach) closer++;
        kept[j] = closer < 2 * count ? 1 : 0;
      }
    }
    return [{ row }, { index, distance: Float32Array.from(distances.subarray(row * wide, row * wide + count)), kept }];
  }

  function table(of) {
    const columns = messages.filter((one) => one.type === "column").map((one) => ({ name: one.name, ...one.arrays, categories: one.categories ?? hello.columns.find((own) => own.name === one.name)?.categories }));
    const axes = of ? Array.from({ length: of.dims }, (_, c) => `${of.method}_${"xyz"[c]}`) : [];
    const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : /^[=+@]|^-[^\d.]/.test(text) ? `'${text}` : text);
    const lines = [["row", ...columns.map((one) => one.name), ...axes].map(quoted).join(",")];
    for (let i = 0; i < n; i++)
      lines.push([String(i), ...columns.map((one) => quoted(cellText(one, i))), ...axes.map((_, c) => of.Y[i * of.dims + c].toPrecision(7))].join(","));
    return new TextEncoder().encode(`${lines.join("\n")}\n`);
  }

  const answers = {
    hello: () => [{ ...hello, columns: hello.columns, maps: [...maps.values()].map(described) }],
    fit: (asked) => [fit(asked)],
    stop: ({ map }) => { if (mapOf(map).running) halt(mapOf(map)); return [{ map }]; },
    pause: ({ map }) => { const one = mapOf(map); if (!engine.pause()) throw new Error("This page cannot pause a run: it may not share memory with its Worker. Stop it, and continue from its map."); status(one, "paused"); return [{ map }]; },
    resume: ({ map }) => { engine.resume(); status(mapOf(map), "running"); return [{ map }]; },
    map: ({ map }) => {
      const one = maps.get(map);
      if (one?.saved) return null; // as it was saved
      if (!one?.Y) throw new Error("This map has no positions yet. Wait for its first frame.");
      return frame(one, one.Y, { final: !one.running });
    },
    drop: ({ map }) => { if (mapOf(map).running) halt(mapOf(map)); maps.delete(map); push({ type: "dropped", map }); push({ type: "maps", maps: [...maps.values()].map(described) }); return [{ map }]; },
    neighbours,
    distortion: async ({ map, k }) => {
      const one = positionsOf(map), found = await engine.ask("misplaced", { map: one.Y, k: Math.min(k, Math.max(1, Math.floor((n - 1) / 2))) });
      return [{ map, k }, { false: found.false, missing: found.missing }];
    },
    place: async ({ name, map, arrays }) => {
      const one = positionsOf(map);
      if (!TITLES[one.method]) throw new Error(`New rows of ${one.title} need Python: a page places them on maps by PCA, t-SNE, UMAP and PaCMAP.`);
      settingsOf(one.method, one.parameters);
      if (!newRows) throw new Error(`This page cannot place new rows: ${refusedNew || "it holds no rule for them"}. Use the model in Python.`);
      const rows = await newRows(arrays.bytes, name);
      if (one.method === "pca") {
        const { scores } = await engine.ask("scoresOf", { rows, k: one.dims });
        return [{ placed: name, count: rows.length / d, map }, { positions: scores, trust: new Float32Array(rows.length / d).fill(1) }];
      }
      const found = await engine.ask("place", { method: one.method, parameters: settingsOf(one.method, one.parameters), map: one.Y, rows });
      return [{ placed: name, count: rows.length / d, map }, { positions: found.positions, trust: found.trust }];
    },
    export: ({ what, format, map }) => {
      if (what !== "rows" || format !== "csv") throw new Error("This page writes csv files and images. Other formats need lowdim in Python.");
      const stem = (hello.title ?? "map").replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "_");
      return [{ filename: `${stem}-map.csv`, mime: "text/csv" }, { bytes: table(map === null ? null : maps.get(map)) }];
    },
  };

  saved.onmessage((buffer) => listener(buffer));
  return {
    onmessage(fn) { listener = fn; },
    send(buffer) {
      const asked = decodeMessage(buffer), own = answers[asked.type];
      if (!own) { saved.send(buffer); return; }
      (async () => {
        let reply;
        try { reply = await own(asked); } catch (error) { reply = [{ type: "error", message: error.message, map: null }]; }
        if (reply === null) { saved.send(buffer); return; }
        const [fields, arrays = {}] = reply;
        listener(encodeMessage({ type: asked.type, ...fields, id: asked.id }, arrays));
      })();
    },
    // Positions of a map that was saved, in floats.
    give(map, Y) { if (maps.has(map)) maps.get(map).Y = Y; },
    told: (map) => maps.get(map),
  };
}
