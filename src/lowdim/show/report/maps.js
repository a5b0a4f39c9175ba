// The maps: their data, colours, and the effect of pointer and keys.
// Data come from #data: coordinates of 16 bits in base64, classes or values, identifiers, and a sheet of thumbnails.

const data = JSON.parse(document.getElementById("data").textContent);
const statusLine = document.getElementById("status");
const tip = document.getElementById("tip");
const FULL = 32767;

function unpack(text, Kind) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

// Numbers of fewer bits than a byte's multiple, the highest bit first, scaled to 16 bits with their sign.
function unpackBits(text, bits) {
  if (bits === 16) return unpack(text, Int16Array);
  const bytes = unpack(text, Uint8Array), count = Math.floor((8 * bytes.length) / bits), most = 2 ** bits - 1;
  return Int16Array.from({ length: count }, (_, i) => {
    let value = 0;
    for (let at = i * bits; at < (i + 1) * bits; at++) value = 2 * value + ((bytes[at >> 3] >> (7 - (at & 7))) & 1);
    return Math.round((2 * value / most - 1) * FULL);
  });
}

const n = data.shown;
const rows = data.rows === null ? null : unpack(data.rows, Int32Array);
const measured = data.measured === null ? null : unpack(data.measured, Int32Array);
const labels = data.labels;
const codes = labels && labels.codes ? unpack(labels.codes, Uint16Array) : null;
const values = labels && labels.values ? unpack(labels.values, Uint8Array) : null;
const state = { hover: -1, pinned: false, brushed: null, classes: new Set(), colouring: labels ? "labels" : "none", named: false, filtered: false };
const DUBIOUS = 254; // of the bytes that say how little a place can be believed; 255 where nothing is known

// ---- Colours: those of the page, read again when the theme changes ---------------------------------------------

// The renderer draws all maps in turn; without WebGL2 a plain canvas does, more slowly.
let painter = null;
try { painter = new Painter(n); } catch { /* drawn on plain canvases */ }
const order = painter ? null : shuffledRows(n);
const tint = new Ink(painter); // shared by all maps: labels, or one colour
let ink = {};

function readColours() {
  const names = labels && labels.names ? labels.names.length : 0;
  ink = {
    labels: codes ? classPalette(names) : values ? numberPalette(document.body) : plainPalette(document.body),
    heat: heatPalette(document.body),
    ring: getComputedStyle(document.body).color, paper: getComputedStyle(document.querySelector(".card")).backgroundColor,
    rest: Array.from(bytesOfColours(document.body, ["light-dark(#cfd2d7, #3a414c)"]), (value) => value / 255).slice(0, 3).concat(0.35),
  };
  tint.setPalette(ink.labels);
  for (const map of maps) { map.heat.setPalette(ink.heat); map.doubt.setPalette(ink.heat); }
}

// The named classes (those not chosen in the legend are greyed), all others, and rows without a label.
function classPalette(count) {
  const seen = (code) => state.classes.size === 0 || state.classes.has(code);
  const bytes = new Uint8Array(4 * count + 8);
  bytes.set(categoryPalette(document.body, count, seen));
  bytes.set(bytesOfColours(document.body, ["var(--soft)", "var(--line)"]), 4 * count);
  for (const i of [count, count + 1]) bytes[4 * i + 3] = state.classes.size === 0 ? 255 : 0;
  return bytes;
}

if (codes) tint.setShades(Uint16Array.from(codes, (code) => (code === 65535 ? labels.names.length + 1 : Math.min(code, labels.names.length))));
if (values) tint.setShades(Uint16Array.from(values));

function css(palette, i) { return `rgb(${palette[4 * i]},${palette[4 * i + 1]},${palette[4 * i + 2]})`; }
function faded(map, i) {
  return (state.brushed !== null && !state.brushed[i]) || (state.colouring === "labels" && tint.greyed(i)) || (filters() && map.doubts[i] !== DUBIOUS);
}
function filters() { return state.filtered && state.colouring === "dubious"; }

// ---- Maps -------------------------------------------------------------------------------------------------------

class Place {
  constructor(root, described) {
    this.root = root;
    this.name = described.name;
    this.islands = described.islands;
    this.frame = { middle: [0, 0], reach: FULL * described.unit }; // of the positions that the file holds
    this.placed = []; // rows of a file: {x, y, trust} in the units of the map
    this.xy = unpackBits(described.xy, data.bits);
    this.misplaced = new Uint8Array(n).fill(255);
    unpack(described.misplaced, Uint8Array).forEach((byte, i) => { this.misplaced[measured ? measured[i] : i] = byte; });
    this.heat = new Ink(painter);
    this.heat.setShades(Uint16Array.from(this.misplaced));
    this.doubts = described.doubts === null ? new Uint8Array(n).fill(255) : unpack(described.doubts, Uint8Array);
    this.doubt = new Ink(painter);
    this.doubt.setShades(Uint16Array.from(this.doubts));
    this.cloud = new Cloud(painter, 2);
    this.cloud.push(Uint16Array.from(this.xy, (value) => value + FULL), [[-FULL, FULL + 1], [-FULL, FULL + 1]], null);
    this.base = root.appendChild(document.createElement("canvas"));
    this.over = root.appendChild(document.createElement("canvas"));
    this.listen();
  }

  get ink() { return { misplaced: this.heat, dubious: this.doubt }[state.colouring] ?? tint; }

  get dubious() { return this.doubts.reduce((sum, one) => sum + (one === DUBIOUS), 0); }

  // Between coordinates of the data and pixels of the page.
  get margin() { return 0.04 * this.size; }
  get unit() { return (this.size - 2 * this.margin) / (2 * FULL); }
  x(i) { return this.margin + (this.xy[2 * i] + FULL) * this.unit; }
  y(i) { return this.margin + (FULL - this.xy[2 * i + 1]) * this.unit; }

  // Positions that the page has computed, in place of those of the file.
  move(positions) {
    const middle = [0, 0];
    let reach = 0;
    for (let c = 0; c < 2; c++) {
      let [low, high] = [Infinity, -Infinity];
      for (let i = c; i < 2 * n; i += 2) { low = Math.min(low, positions[i]); high = Math.max(high, positions[i]); }
      middle[c] = (low + high) / 2;
      reach = Math.max(reach, (high - low) / 2);
    }
    this.frame = { middle, reach: reach || 1 };
    this.xy = Int16Array.from(positions, (value, i) => Math.round(((value - middle[i % 2]) * FULL) / this.frame.reach));
    this.islands = [];
    this.misplaced.fill(255); // both are known of the positions of the file alone
    this.heat.setShades(Uint16Array.from(this.misplaced));
    this.doubts.fill(255);
    this.doubt.setShades(Uint16Array.from(this.doubts));
    this.cloud.push(Uint16Array.from(this.xy, (value) => value + FULL), [[-FULL, FULL + 1], [-FULL, FULL + 1]], null);
    this.draw();
    this.mark();
  }

  // Positions in the units of the map: those computed here, or those of the file.
  get positions() {
    const { middle, reach } = this.frame;
    return this.exact ?? Float32Array.from(this.xy, (value, i) => middle[i % 2] + (value * reach) / FULL);
  }

  drawPlaced(pen) {
    const { middle, reach } = this.frame;
    for (const { x, y, trust } of this.placed) {
      const [u, v] = [this.margin + (((x - middle[0]) * FULL) / reach + FULL) * this.unit, this.margin + (FULL - ((y - middle[1]) * FULL) / reach) * this.unit];
      pen.beginPath();
      for (const [a, b] of [[0, -7], [6, 0], [0, 7], [-6, 0]]) pen.lineTo(u + a, v + b);
      pen.closePath();
      pen.fillStyle = trust < 0.02 ? ink.paper : ink.ring;
      pen.fill();
      pen.lineWidth = 1.6;
      pen.strokeStyle = trust < 0.02 ? ink.ring : ink.paper;
      pen.stroke();
    }
  }

  resize() {
    this.size = this.root.clientWidth;
    this.dots = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) canvas.width = canvas.height = Math.round(this.size * this.dots);
    this.draw();
    this.mark();
  }

  draw() {
    const pen = this.base.getContext("2d"), side = this.base.width;
    const radius = Math.max(0.8, Math.min(4.2, (0.217 * this.size) / n ** 0.42)) * this.dots, k = 0.92 / FULL;
    const opacity = n > 6000 ? 0.65 : 0.85;
    pen.clearRect(0, 0, side, side);
    if (!painter) { this.drawPlainly(pen, radius, opacity); return; }
    painter.setFaded(filters() || state.brushed ? Uint8Array.from({ length: n }, (_, i) => ((state.brushed && !state.brushed[i]) || (filters() && this.doubts[i] !== DUBIOUS) ? 1 : 0)) : null);
    const eye = new Float32Array([k, 0, 0, 0, 0, k, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    painter.draw(this.cloud, this.ink, { width: side, height: side, eye, blend: 1, solid: false, radius, opacity, rest: ink.rest, density: false });
    pen.drawImage(painter.canvas, 0, painter.canvas.height - side, side, side, 0, 0, side, side);
  }

  drawPlainly(pen, radius, opacity) {
    const { palette, shades } = this.ink, scale = this.dots;
    for (const front of [false, true]) {
      pen.globalAlpha = front ? opacity : 0.1;
      for (const i of order) {
        if (faded(this, i) === front) continue;
        pen.fillStyle = css(palette, shades ? shades[i] : 0);
        pen.fillRect(this.x(i) * scale - radius, this.y(i) * scale - radius, 2 * radius, 2 * radius);
      }
    }
    pen.globalAlpha = 1;
  }

  // Names of islands; one that would cover another is left out.
  drawNames(pen) {
    const taken = [];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = "600 12px system-ui, sans-serif";
    for (const { name, at } of this.islands) {
      const x = this.margin + (at[0] + FULL) * this.unit, y = this.margin + (FULL - at[1]) * this.unit;
      const wide = pen.measureText(name).width / 2 + 3, high = 8;
      if (x < wide || x > this.size - wide || taken.some(([u, v, w]) => Math.abs(u - x) < w + wide && Math.abs(v - y) < 2 * high)) continue;
      taken.push([x, y, wide]);
      pen.lineWidth = 3.5;
      pen.lineJoin = "round";
      pen.strokeStyle = ink.paper;
      pen.strokeText(name, x, y);
      pen.fillStyle = ink.ring;
      pen.fillText(name, x, y);
    }
  }

  // Overlay of the map: the row under the pointer, and the rectangle being drawn.
  mark(rectangle) {
    const pen = this.over.getContext("2d");
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.size, this.size);
    if (rectangle) {
      pen.strokeStyle = ink.ring;
      pen.setLineDash([4, 3]);
      pen.strokeRect(rectangle.x, rectangle.y, rectangle.w, rectangle.h);
      pen.setLineDash([]);
    }
    if (state.named) this.drawNames(pen);
    this.drawPlaced(pen);
    const i = state.hover;
    if (i < 0) return;
    for (const [width, style, radius] of [[5, ink.paper, 7], [2.2, ink.ring, 7]]) {
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.beginPath();
      pen.arc(this.x(i), this.y(i), radius, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.fillStyle = this.ink.css(i);
    pen.beginPath();
    pen.arc(this.x(i), this.y(i), 4, 0, 2 * Math.PI);
    pen.fill();
  }

  nearest(px, py, reach) {
    const x = (px - this.margin) / this.unit - FULL, y = FULL - (py - this.margin) / this.unit;
    let best = -1, least = (reach / this.unit) ** 2;
    for (let i = 0; i < n; i++) {
      const d = (this.xy[2 * i] - x) ** 2 + (this.xy[2 * i + 1] - y) ** 2;
      if (d < least && !faded(this, i)) { least = d; best = i; }
    }
    return best;
  }

  // The nearest point from the current one towards an arrow key, within a quarter turn.
  step(dx, dy) {
    if (state.hover < 0) return this.nearest(this.size / 2, this.size / 2, this.size);
    const x = this.xy[2 * state.hover], y = this.xy[2 * state.hover + 1];
    let best = state.hover, least = Infinity;
    for (let i = 0; i < n; i++) {
      if (i === state.hover || faded(this, i)) continue;
      const ux = this.xy[2 * i] - x, uy = this.xy[2 * i + 1] - y;
      const along = ux * dx + uy * dy, aside = Math.abs(ux * dy - uy * dx);
      const d = ux * ux + uy * uy;
      if (along > 0 && aside <= along && d < least) { least = d; best = i; }
    }
    return best;
  }

  listen() {
    let from = null;
    const at = (event) => {
      const box = this.root.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = at(event);
      this.root.setPointerCapture(event.pointerId);
    });
    this.root.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (from && Math.hypot(x - from[0], y - from[1]) > 5) {
        const corner = { x: Math.min(x, from[0]), y: Math.min(y, from[1]) };
        this.mark({ ...corner, w: Math.abs(x - from[0]), h: Math.abs(y - from[1]) });
      } else if (!state.pinned) {
        point(this, this.nearest(x, y, 22));
      }
    });
    this.root.addEventListener("pointerup", (event) => {
      const [x, y] = at(event);
      if (from && Math.hypot(x - from[0], y - from[1]) > 5) {
        this.brush(Math.min(x, from[0]), Math.min(y, from[1]), Math.max(x, from[0]), Math.max(y, from[1]));
      } else {
        const i = this.nearest(x, y, 22);
        state.pinned = i >= 0 && !(state.pinned && i === state.hover);
        if (i < 0) clear();
        else point(this, i);
      }
      from = null;
    });
    this.root.addEventListener("pointerleave", () => { if (!state.pinned && !from) point(this, -1); });
    this.root.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way) {
        event.preventDefault();
        state.pinned = true;
        point(this, this.step(...way));
      } else if (event.key === "Escape") {
        clear();
      }
    });
    this.root.addEventListener("blur", () => { if (state.pinned) { state.pinned = false; point(this, -1); } });
  }

  brush(left, top, right, bottom) {
    const inside = new Uint8Array(n);
    let count = 0;
    for (let i = 0; i < n; i++) {
      const x = this.x(i), y = this.y(i);
      if (x >= left && x <= right && y >= top && y <= bottom) { inside[i] = 1; count++; }
    }
    state.brushed = count ? inside : null;
    state.pinned = false;
    state.hover = -1;
    show(null);
    redraw();
    const what = `${count.toLocaleString("en")} rows selected in ${this.name}${classesOf(inside, count)}`;
    say(count ? `${what}. Escape clears the selection.` : "");
  }
}

function classesOf(inside, count) {
  if (!codes) return "";
  const found = new Map();
  for (let i = 0; i < n; i++) if (inside[i]) found.set(codes[i], (found.get(codes[i]) || 0) + 1);
  const most = [...found].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return ": " + most.map(([code, k]) => `${nameOf(code)} ${Math.round((100 * k) / count)} %`).join(", ");
}
