// A saved page that computes: the core and the principal scores of the rows are in it.
import { refusal } from "./engine.js";
import { engineOfPage, heldScores, newScores, slidesFor } from "./computing.js";
import { localChannel } from "./local.js";

// The channel of a page with a message `compute`: scores (n × k), and how new rows get theirs.
export async function computingChannel(messages) {
  if (refusal()) return null;
  const compute = messages.find((one) => one.type === "compute"), hello = messages.find((one) => one.type === "hello");
  const { n, k, held, fresh } = compute, { scores, axes } = compute.arrays, engine = engineOfPage();
  engine.table(heldScores(compute, scores), n, k);
  Object.assign(hello, { slides: slidesFor(n), pauses: engine.canPause,
    computed_on: `Computed in this page, on ${k} principal scores of each row: ${Math.round(1000 * held) / 10} % of the variance.` });
  const channel = localChannel(messages, { engine, n, d: k, newRows: fresh ? newScores(compute, axes) : null, refusedNew: compute.refusedNew });
  for (const frame of messages.filter((one) => one.type === "frame")) {
    const { positions, present } = frame.arrays, { dims, box } = frame;
    if (!present) channel.give(frame.map, Float32Array.from(positions, (v, i) => box[i % dims][0] + (v / 65535) * (box[i % dims][1] - box[i % dims][0])));
  }
  return channel;
}
