// The core in this page: a Worker computes, this side sends it rows and questions. `stop` always works: where the page
// may share memory with the Worker it asks, and elsewhere it ends the Worker; the next question starts another.
import { engineWorker } from "./engine_worker.js";
import { textToBytes } from "./dom.js";

export const STAGES = ["principal axes", "neighbours", "graph", "start", "descent", "quality", "positions"];
const MOST_THREADS = 8;
const PATIENCE = 400; // milliseconds that a Worker has to stop by itself
// A module that adds two vectors: valid where WebAssembly has them.
const VECTORS = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

export class Stopped extends Error {}

// Why this browser cannot compute, or nothing.
export function refusal() {
  const advice = "Use a current Chrome, Edge, Firefox or Safari; or lowdim in Python.";
  if (typeof WebAssembly === "undefined") return `This browser has no WebAssembly, so that the page cannot compute. ${advice}`;
  if (!WebAssembly.validate(VECTORS)) return `This browser's WebAssembly has no vectors (SIMD), so that the page cannot compute. ${advice}`;
  try { new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }); } catch { return `This browser's WebAssembly has no memory for threads, so that the page cannot compute. ${advice}`; }
  return typeof Worker === "undefined" ? `This browser has no Workers, so that the page cannot compute. ${advice}` : null;
}

export function workerOf(text) { // from a file, too, where no other file may be loaded
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const made = new Worker(address);
  URL.revokeObjectURL(address);
  return made;
}

// The bytes of a module that a page holds as text: compressed, in base64.
export async function unpacked(text) {
  const stream = new Blob([textToBytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export class Engine {
  // `load()` gives the bytes of the module.
  constructor(load) {
    Object.assign(this, { load, rows: null, waiting: null, queue: Promise.resolve(), count: 0 });
    const shared = globalThis.crossOriginIsolated === true;
    this.threads = shared ? Math.max(1, Math.min(MOST_THREADS, navigator.hardwareConcurrency || 1)) : 1;
  }

  // The rows (n × d) that everything is about. They are kept here, for a Worker that starts later.
  table(rows, n, d) {
    this.rows = { rows, n, d };
    this.end(new Stopped("Other rows came."));
  }

  // One question after another; `heard` gets stages and frames of this one. `asker` is what it is about: where that is
  // `halted` before its turn comes, it is not asked.
  ask(deed, fields = {}, heard = null, asker = null) {
    const demandWanted = () => { if (asker?.halted) throw new Stopped("Stopped."); };
    const asked = this.queue.then(async () => {
      demandWanted();
      await this.ready();
      demandWanted();
      return this.send(deed, fields, heard, asker);
    });
    this.queue = asked.catch(() => {});
    return asked;
  }

  async ready() {
    if (this.worker) return;
    const why = refusal();
    if (why) throw new Error(why);
    this.module ??= WebAssembly.compile(await this.load());
    const module = await this.module;
    if (this.closed) throw new Stopped("Stopped.");
    this.worker = this.begin();
    const canShare = this.threads > 1 || globalThis.crossOriginIsolated === true;
    const { memory, control, stacks } = await this.send("open", { module, threads: this.threads, canShare });
    this.helpers = [];
    if (memory) {
      this.control = { memory, at: control };
      for (const stack of stacks) {
        const helper = this.begin();
        helper.postMessage({ id: 0, deed: "help", module, memory, stack });
        this.helpers.push(helper);
      }
    }
    if (this.rows) await this.send("table", this.rows);
  }

  begin() {
    const made = workerOf(`(${engineWorker})(self)`);
    made.onmessage = ({ data }) => this.heard(data);
    made.onerror = (event) => { event.preventDefault(); this.end(new Error(`The computation failed (${event.message ?? "its Worker could not start"}).`)); };
    return made;
  }

  send(deed, fields, heard = null, asker = null) {
    return new Promise((keep, refuse) => {
      this.waiting = { id: ++this.count, keep, refuse, heard, asker };
      this.word(0);
      this.worker.postMessage({ id: this.count, deed, ...fields });
    });
  }

  heard(data) {
    const { waiting } = this;
    if (data.error !== undefined && (data.id === 0 || waiting?.id === data.id)) { this.end(data.error === "Stopped." ? new Stopped(data.error) : new Error(data.error)); return; }
    if (!waiting || waiting.id !== data.id) return;
    if (data.answer === undefined) { waiting.heard?.(data); return; }
    this.waiting = null;
    waiting.keep(data.answer);
  }

  // Ends the Workers: memory in which a call broke off is not used again.
  end(error) {
    for (const one of [this.worker, ...(this.helpers ?? [])]) one?.terminate();
    const { waiting } = this;
    Object.assign(this, { worker: null, helpers: [], control: null, waiting: null });
    waiting?.refuse(error);
  }

  // No question is answered from here on.
  close() {
    this.closed = true;
    this.end(new Stopped("Stopped."));
  }

  word(value) {
    if (!this.control) return false;
    const words = new Int32Array(this.control.memory.buffer, this.control.at, 1);
    Atomics.store(words, 0, value);
    Atomics.notify(words, 0);
    return true;
  }

  get canPause() { return globalThis.crossOriginIsolated === true; }
  pause() { return this.word(2); }
  resume() { return this.word(0); }

  // Ends the question of this asker, or any; one that still waits for its turn is not asked.
  stop(asker = null) {
    const { waiting } = this;
    if (asker) asker.halted = true;
    if (!waiting || (asker && waiting.asker !== asker)) return;
    if (!this.word(1)) { this.end(new Stopped("Stopped.")); return; }
    setTimeout(() => { if (this.waiting === waiting) this.end(new Stopped("Stopped.")); }, PATIENCE);
  }
}
