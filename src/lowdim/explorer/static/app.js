// Entry points for hosts: a page over a WebSocket, a widget in a notebook, or a page saved on disk.
import { Explorer } from "./explorer.js";
import { connect } from "./wire.js";
import { readSaved, savedChannel } from "./saved.js";

// `channel` = {send(ArrayBuffer), onmessage(listener), onclose(listener)?}
export function mount(el, channel, options = {}) {
  el.explorer = new Explorer(el, channel, options);
  return el.explorer;
}

export function open(el, url) { return mount(el, connect(url)); }

export async function replay(el, text) {
  const messages = await readSaved(text), view = messages.find((message) => message.type === "view")?.view ?? {};
  return mount(el, savedChannel(messages), { saved: { view } });
}

// anywidget: messages are the buffers of its custom messages.
function render({ model, el }) {
  const root = el.appendChild(document.createElement("div"));
  root.className = "cell";
  mount(root, {
    send: (buffer) => model.send({}, undefined, [buffer]),
    onmessage: (listener) => model.on("msg:custom", (_, buffers) => {
      for (const part of buffers) listener(part.buffer ? part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength) : part);
    }),
  });
}

export default { render };
