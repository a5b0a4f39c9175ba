// Messages: a length, a header in JSON padded to eight bytes, then arrays, each starting at a multiple of eight.

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };
const eight = (length) => Math.ceil(length / 8) * 8;

export function encodeMessage(header, arrays = {}) {
  const told = Object.entries(arrays).map(([name, values]) => ({
    name, dtype: Object.keys(KINDS).find((kind) => values instanceof KINDS[kind]), shape: [values.length],
  }));
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: told }));
  const start = eight(4 + text.length);
  const total = Object.values(arrays).reduce((at, values) => at + eight(values.byteLength), start);
  const bytes = new Uint8Array(total);
  new DataView(bytes.buffer).setUint32(0, start - 4, true);
  bytes.fill(32, 4, start).set(text, 4);
  let at = start;
  for (const values of Object.values(arrays)) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += eight(values.byteLength);
  }
  return bytes.buffer;
}

export function decodeMessage(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new Error("A message ended before its header.");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let at = 4 + length;
  for (const { name, dtype, shape } of header.arrays || []) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new KINDS[dtype](buffer, at, count);
    at += eight(arrays[name].byteLength);
  }
  return { ...header, arrays };
}

// Requests and replies over a channel {send(ArrayBuffer), onmessage(fn), onclose(fn)?}.
export class Line {
  constructor(channel) {
    this.channel = channel;
    this.count = 0;
    this.waiting = new Map();
    this.listeners = new Map();
    channel.onmessage((buffer) => this.receive(decodeMessage(buffer)));
    channel.onclose?.(() => this.hangUp());
  }

  receive(message) {
    const waiting = message.id === null || message.id === undefined ? null : this.waiting.get(message.id);
    if (waiting) {
      this.waiting.delete(message.id);
      if (message.type === "error") waiting.refuse(new Error(message.message));
      else waiting.keep(message);
    } else for (const listener of this.listeners.get(message.type) || []) listener(message);
  }

  hangUp() {
    this.closed = true;
    for (const { refuse } of this.waiting.values()) refuse(new Error("The connection to Python is closed."));
    this.waiting.clear();
    for (const listener of this.listeners.get("closed") || []) listener();
  }

  ask(type, fields = {}, arrays = {}) {
    const id = ++this.count;
    if (this.closed) return Promise.reject(new Error("The connection to Python is closed."));
    return new Promise((keep, refuse) => {
      this.waiting.set(id, { keep, refuse });
      this.channel.send(encodeMessage({ type, id, ...fields }, arrays));
    });
  }

  tell(type, fields = {}) { if (!this.closed) this.channel.send(encodeMessage({ type, id: ++this.count, ...fields })); }

  on(type, listener) { this.listeners.set(type, [...(this.listeners.get(type) || []), listener]); }
}

// A WebSocket as a channel; messages sent before it is open wait.
export function connect(url) {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const early = [];
  socket.addEventListener("open", () => { for (const buffer of early.splice(0)) socket.send(buffer); });
  return {
    send(buffer) { if (socket.readyState === WebSocket.CONNECTING) early.push(buffer); else socket.send(buffer); },
    onmessage(listener) { socket.addEventListener("message", (event) => listener(event.data)); },
    onclose(listener) { socket.addEventListener("close", listener); },
  };
}
