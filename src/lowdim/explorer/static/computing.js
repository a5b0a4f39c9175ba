// What pages that compute share: the core, the reader of tables, and projections. The explorer and reports use it.
import { Engine, unpacked, workerOf } from "./engine.js";
import { readerWorker, tableReader } from "./csv.js";
import { columnRules } from "./columns.js";

// Perplexity or neighbours as a slider, by method.
export function slidesFor(n) {
  const most = Math.max(3, Math.min(200, Math.floor((n - 1) / 3)));
  return { tsne: { name: "perplexity", low: 2, high: most, usual: Math.min(30, most) }, umap: { name: "n_neighbors", low: 2, high: most, usual: Math.min(15, most) },
    pacmap: { name: "n_neighbors", low: 2, high: Math.min(60, most), usual: Math.min(10, most) } };
}

const SLIDES = 100; // steps of a slider

// The value at a step of a slider, and the step of a value.
export function valueAt({ name, low, high }, step) {
  const value = low * (high / low) ** (step / SLIDES);
  return value < 10 && name === "perplexity" ? Math.round(2 * value) / 2 : Math.round(value);
}
export function stepOf({ low, high }, value) { return Math.round((SLIDES * Math.log(value / low)) / Math.log(high / low)); }

// The core of this page: in it as text, or beside it.
export function engineOfPage() {
  const held = document.getElementById("engine");
  return new Engine(held ? () => unpacked(held.textContent) : async () => (await fetch("engine.wasm")).arrayBuffer());
}

// A Worker that reads tables; `ask(message)` answers.
export function readerOf(rules) {
  const worker = workerOf(`const rules = ${JSON.stringify(rules)};\n(${readerWorker})(self, (${tableReader})(rules, (${columnRules})(rules)))`), waiting = new Map();
  let count = 0;
  worker.onmessage = ({ data }) => {
    const { keep, refuse } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) refuse(new Error(data.error)); else keep(data.answer);
  };
  const fail = (error) => { for (const { refuse } of waiting.values()) refuse(error); waiting.clear(); };
  worker.onerror = (event) => fail(new Error(`The file could not be read (${event.message}).`));
  const ask = (message) => new Promise((keep, refuse) => { waiting.set(++count, { keep, refuse }); worker.postMessage({ id: count, ...message }); });
  return { ask, end: () => { worker.terminate(); fail(new Error("Stopped.")); } };
}

// The rows (n × k) that a page holds as 16-bit fractions of one range.
export function heldScores({ low, high }, parts) { return Float32Array.from(parts, (v) => low + (v / 65535) * (high - low)); }

// Scores of the rows of a file, by what the page holds of the preparation of columns: rules, recipes, mean; and the axes (k × d).
export function newScores({ fresh, k }, axes) {
  let reader = null;
  return async (bytes, name) => {
    reader ??= readerOf(fresh.rules);
    return scoresOfFeatures(await reader.ask({ place: bytes, name, recipes: fresh.recipes, d: fresh.mean.length }), fresh.mean, axes, k);
  };
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
