// A saved page: the messages it was saved with answer in place of Python.
import { decodeMessage, encodeMessage } from "./wire.js";
import { packedBits, unpackedBits } from "./lasso.js";
import { textToBytes } from "./dom.js";
import { cellText } from "./files.js";

export async function readSaved(text) {
  const stream = new Blob([textToBytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const blob = await new Response(stream).arrayBuffer(), view = new DataView(blob), messages = [];
  for (let at = 0; at + 4 <= blob.byteLength;) {
    const length = view.getUint32(at, true);
    messages.push(decodeMessage(blob.slice(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return messages;
}

// A channel over what was saved (maps, columns, thumbnails), which counts, searches and lists rows.
export function savedChannel(messages) {
  let listener = () => {}, chosen = null;
  const hello = messages.find((message) => message.type === "hello"), { n } = hello;
  const columns = new Map(messages.filter((message) => message.type === "column").map((message) =>
    [message.name, { codes: message.arrays.codes, values: message.arrays.values,
      categories: message.categories ?? hello.columns.find((one) => one.name === message.name)?.categories }]));
  const kept = (type, map) => messages.find((message) => message.type === type && message.map === map);
  const answers = {
    hello: () => [{ ...hello, columns: hello.columns.filter((one) => columns.has(one.name)),
      images: messages.some((one) => one.type === "thumbs") ? hello.images : null }],
    column: ({ name }) => [columns.has(name) && messages.find((one) => one.type === "column" && one.name === name)],
    map: ({ map }) => [kept("frame", map)],
    names: ({ map }) => [kept("names", map)],
    reliability: ({ map }) => [kept("reliability", map)],
    thumbs: ({ rows }) => [cutTiles(messages.find((one) => one.type === "thumbs"), rows)],
    search: ({ text }) => {
      const bytes = new Uint8Array(n), sought = text.toLowerCase();
      for (const column of columns.values()) {
        const hits = column.codes && new Set(column.categories.flatMap((name, i) => (name.toLowerCase().includes(sought) ? [i] : [])));
        for (let i = 0; i < n; i++) if (hits ? hits.has(column.codes[i]) : !bytes[i] && cellText(column, i).includes(sought)) bytes[i] = 1;
      }
      return [{ count: bytes.reduce((sum, one) => sum + one, 0), arrays: { mask: packedBits(bytes) } }];
    },
    rows: ({ start, count, of }) => {
      const all = Array.isArray(of) ? of : of === "selection" && chosen ? chosen : null;
      const total = all ? all.length : n, length = Math.max(0, Math.min(count, total - start));
      const index = Array.from({ length }, (_, i) => (all ? all[start + i] : start + i));
      const cells = index.map((row) => [...columns.values()].map((column) => cellText(column, row)));
      return [{ columns: [...columns.keys()], index, total, rows: cells }];
    },
    select: ({ arrays }) => {
      const bytes = unpackedBits(arrays.mask, n);
      chosen = [];
      bytes.forEach((one, i) => { if (one) chosen.push(i); });
      const count = chosen.length, counts = [];
      if (!count) chosen = null;
      for (const [column, { codes, categories }] of columns) {
        if (!codes || !count) continue;
        const [inside, of] = [new Uint32Array(categories.length), new Uint32Array(categories.length)];
        codes.forEach((code, i) => { if (code < of.length) { of[code]++; inside[code] += bytes[i]; } });
        categories.forEach((category, i) => { if (inside[i]) counts.push({ column, category, count: inside[i], of: of[i] }); });
      }
      return [{ count, counts, telling: [], quality: [] }];
    },
  };
  return {
    onmessage(fn) {
      listener = fn;
    },
    send(buffer) {
      const asked = decodeMessage(buffer);
      if (asked.type === "ack") return;
      const [found] = answers[asked.type]?.(asked) ?? [];
      const { arrays = {}, ...fields } = found || { type: "error", message: "This saved page runs without Python, so it cannot do that." };
      queueMicrotask(() => listener(encodeMessage({ type: asked.type, ...fields, id: asked.id }, arrays)));
    },
  };
}

// From the sheet of all rows, a sheet of those requested.
function cutTiles(sheet, rows) {
  if (!sheet) return null;
  const { width, height, columns, arrays: { atlas } } = sheet, out = new Uint8Array(4 * width * height * rows.length);
  rows.forEach((row, i) => {
    for (let y = 0; y < height; y++) {
      const from = 4 * ((Math.floor(row / columns) * height + y) * columns * width + (row % columns) * width);
      out.set(atlas.subarray(from, from + 4 * width), 4 * width * (i * height + y));
    }
  });
  return { width, height, columns: 1, arrays: { atlas: out } };
}
