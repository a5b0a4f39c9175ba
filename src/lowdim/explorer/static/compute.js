// A saved page that computes: the module and the principal scores of the rows are in it.
import { Engine, refusal, unpacked, workerOf } from "./engine.js";
import { localChannel } from "./local.js";
import { readerWorker, tableReader } from "./csv.js";

// Perplexity or neighbours as a slider, by method.
export function slidesFor(n) {
  const most = Math.max(3, Math.min(200, Math.floor((n - 1) / 3)));
  return { tsne: { name: "perplexity", low: 2, high: most, usual: Math.min(30, most) }, umap: { name: "n_neighbors", low: 2, high: most, usual: Math.min(15, most) },
    pacmap: { name: "n_neighbors", low: 2, high: Math.min(60, most), usual: Math.min(10, most) } };
}

export function engineOfPage() {
  const held = document.getElementById("engine");
  return new Engine(held ? () => unpacked(held.textContent) : async () => (await fetch("engine.wasm")).arrayBuffer());
}

// A Worker that reads tables; `ask(message)` answers.
export function readerOf(rules) {
  const worker = workerOf(`(${readerWorker})(self, (${tableReader})(${JSON.stringify(rules)}))`), waiting = new Map();
  let count = 0;
  worker.onmessage = ({ data }) => {
    const { keep, refuse } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) refuse(new Error(data.error)); else keep(data.answer);
  };
  worker.onerror = (event) => { for (const { refuse } of waiting.values()) refuse(new Error(`The file could not be read (${event.message}).`)); waiting.clear(); };
  const ask = (message) => new Promise((keep, refuse) => { waiting.set(++count, { keep, refuse }); worker.postMessage({ id: count, ...message }); });
  return { ask, end: () => worker.terminate() };
}

// The channel of a page with a message `compute`: scores (n × k) as 16-bit fractions of one range, and how new rows get theirs.
export async function computingChannel(messages) {
  if (refusal()) return null;
  const compute = messages.find((one) => one.type === "compute"), hello = messages.find((one) => one.type === "hello");
  const { n, k, low, high, held, fresh } = compute, { scores, axes } = compute.arrays;
  const rows = Float32Array.from(scores, (v) => low + (v / 65535) * (high - low));
  const engine = engineOfPage();
  engine.table(rows, n, k);
  Object.assign(hello, { slides: slidesFor(n), pauses: engine.canPause,
    computed_on: `Computed in this page, on ${k} principal scores of each row: ${Math.round(1000 * held) / 10} % of the variance.` });
  let reader = null;
  const newRows = fresh ? async (bytes, name) => {
    reader ??= readerOf(fresh.rules);
    const features = await reader.ask({ place: bytes, name, recipes: fresh.recipes, d: fresh.mean.length });
    return scoresOfFeatures(features, fresh.mean, axes, k);
  } : null;
  const channel = localChannel(messages, { engine, n, d: k, newRows, refusedNew: compute.refusedNew });
  for (const frame of messages.filter((one) => one.type === "frame")) {
    const { positions, present } = frame.arrays, { dims, box } = frame;
    if (!present) channel.give(frame.map, Float32Array.from(positions, (v, i) => box[i % dims][0] + (v / 65535) * (box[i % dims][1] - box[i % dims][0])));
  }
  return channel;
}

// Principal scores (m × k) of features (m × d).
export function scoresOfFeatures({ rows, n }, mean, axes, k) {
  const d = mean.length, out = new Float32Array(n * k);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < k; j++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += (rows[i * d + c] - mean[c]) * axes[j * d + c];
      out[i * k + j] = sum;
    }
  return out;
}
