// Entry points for hosts: a page over a WebSocket, a widget in a notebook, or a page saved on disk.
import { Explorer } from "./explorer.js";
import { make } from "./dom.js";
import { connect } from "./wire.js";
import { readSaved, savedChannel } from "./saved.js";
import { computingChannel } from "./compute.js";

// `channel` = {send(ArrayBuffer), onmessage(listener), onclose(listener)?}
export function mount(el, channel, options = {}) {
  el.explorer = new Explorer(el, channel, options);
  return el.explorer;
}

export function open(el, url) { return mount(el, connect(url)); }

export async function replay(el, text) {
  const messages = await readSaved(text), view = messages.find((message) => message.type === "view")?.view ?? {};
  const computing = messages.some((message) => message.type === "compute") ? await computingChannel(messages) : null;
  return mount(el, computing ?? savedChannel(messages), { saved: { view }, computes: Boolean(computing) });
}

// anywidget: messages are the buffers of its custom messages.
function render({ model, el }) {
  const root = el.appendChild(document.createElement("div"));
  root.className = "cell";
  const { ready } = mount(root, {
    send: (buffer) => model.send({}, undefined, [buffer]),
    onmessage: (listener) => model.on("msg:custom", (_, buffers) => {
      for (const part of buffers) listener(part.buffer ? part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength) : part);
    }),
  });
  const kept = model.get?.("_picture");
  if (!kept) return;
  // Shown until Python answers; without a kernel, as in a notebook exported to HTML, it stays.
  const image = el.appendChild(make("img", { src: `data:image/png;base64,${kept}`, alt: "Map of the explorer, drawn by Python" }));
  image.style.maxWidth = "100%";
  root.style.display = "none";
  ready.then(() => { image.remove(); root.style.display = ""; }, () => {});
}

export default { render };
