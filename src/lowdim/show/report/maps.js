"use strict";
// The maps: what they are drawn from, their colours, and what a pointer or a key does in one of them.
// Data come from #data: coordinates of 16 bits in base64, classes or values, identities, and a sheet of pictures.

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

const n = data.shown;
const rows = data.rows === null ? null : unpack(data.rows, Int32Array);
const labels = data.labels;
const codes = labels && labels.codes ? unpack(labels.codes, Uint16Array) : null;
const values = labels && labels.values ? unpack(labels.values, Uint8Array) : null;
const order = shuffled(n); // so that no class is drawn over another
const state = { hover: -1, pinned: false, brushed: null, classes: new Set(), colouring: labels ? "labels" : "none" };

function shuffled(count) {
  const list = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 1;
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

// ---- Colours: those of the page, read anew when day turns to night ----------------------------------------------

const probe = document.body.appendChild(document.createElement("i"));
probe.hidden = true;
let ink = {};

function colour(expression) {
  probe.style.color = expression;
  return getComputedStyle(probe).color;
}

function readColours() {
  ink = {
    classes: Array.from({ length: 20 }, (_, i) =>
      colour(i < 10 ? `var(--c${i})` : `color-mix(in srgb, var(--c${i - 10}) 55%, var(--ink))`)),
    other: colour("var(--soft)"), none: colour("var(--line)"), plain: colour("var(--c0)"),
    ring: colour("var(--ink)"), paper: colour("var(--card)"),
    ramp: ramp(["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"]),
    heat: ramp([colour("var(--line)"), colour("var(--warn)"), colour("light-dark(#5c1a00, #ffe1cf)")]),
  };
}

function ramp(stops) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 255, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const shade = pen.createLinearGradient(0, 0, 255, 0);
  stops.forEach((stop, i) => shade.addColorStop(i / (stops.length - 1), stop));
  pen.fillStyle = shade;
  pen.fillRect(0, 0, 255, 1);
  const pixels = pen.getImageData(0, 0, 255, 1).data;
  return Array.from({ length: 255 }, (_, i) => `rgb(${pixels[4 * i]},${pixels[4 * i + 1]},${pixels[4 * i + 2]})`);
}

function colourOf(map, i) {
  if (state.colouring === "misplaced") return map.misplaced[i] === 255 ? ink.none : ink.heat[map.misplaced[i]];
  if (state.colouring === "labels" && codes) {
    if (codes[i] < labels.names.length) return ink.classes[codes[i]];
    return codes[i] === 65535 ? ink.none : ink.other;
  }
  if (state.colouring === "labels" && values) return values[i] === 255 ? ink.none : ink.ramp[values[i]];
  return ink.plain;
}

function faded(i) {
  if (state.brushed && !state.brushed[i]) return true;
  return state.classes.size > 0 && codes !== null && !state.classes.has(codes[i]);
}

// ---- Maps -------------------------------------------------------------------------------------------------------

const CELLS = 64; // along each side of the grid by which points are found

class Place {
  constructor(root, described) {
    this.root = root;
    this.name = described.name;
    this.xy = unpack(described.xy, Int16Array);
    this.misplaced = unpack(described.misplaced, Uint8Array);
    this.base = root.appendChild(document.createElement("canvas"));
    this.over = root.appendChild(document.createElement("canvas"));
    this.cells = this.sorted();
    this.listen();
  }

  sorted() {
    const cells = Array.from({ length: CELLS * CELLS }, () => []);
    for (let i = 0; i < n; i++) cells[this.cell(this.xy[2 * i]) + CELLS * this.cell(this.xy[2 * i + 1])].push(i);
    return cells;
  }

  cell(v) { return Math.min(CELLS - 1, Math.floor(((v + FULL) / (2 * FULL + 1)) * CELLS)); }

  // Between coordinates of the data and pixels of the page.
  get margin() { return 0.04 * this.size; }
  get unit() { return (this.size - 2 * this.margin) / (2 * FULL); }
  x(i) { return this.margin + (this.xy[2 * i] + FULL) * this.unit; }
  y(i) { return this.margin + (FULL - this.xy[2 * i + 1]) * this.unit; }

  resize() {
    this.size = this.root.clientWidth;
    const dots = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      canvas.width = canvas.height = Math.round(this.size * dots);
      canvas.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
    }
    this.draw();
    this.mark();
  }

  draw() {
    const pen = this.base.getContext("2d");
    pen.clearRect(0, 0, this.size, this.size);
    const radius = Math.max(0.8, Math.min(4.2, (0.217 * this.size) / n ** 0.42));
    const dense = n > 6000;
    for (const front of [false, true]) {
      pen.globalAlpha = front ? (dense ? 0.65 : 0.85) : 0.1;
      for (const i of order) {
        if (faded(i) === front) continue;
        pen.fillStyle = colourOf(this, i);
        const x = this.x(i), y = this.y(i);
        if (dense) {
          pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        } else {
          pen.beginPath();
          shape(pen, codes !== null && state.colouring === "labels" && codes[i] >= 10 && codes[i] < 20, x, y, radius);
          pen.fill();
        }
      }
    }
    pen.globalAlpha = 1;
  }

  // What lies over the map: the row under the pointer, and the rectangle being drawn.
  mark(rectangle) {
    const pen = this.over.getContext("2d");
    pen.clearRect(0, 0, this.size, this.size);
    if (rectangle) {
      pen.strokeStyle = ink.ring;
      pen.setLineDash([4, 3]);
      pen.strokeRect(rectangle.x, rectangle.y, rectangle.w, rectangle.h);
      pen.setLineDash([]);
    }
    const i = state.hover;
    if (i < 0) return;
    for (const [width, style, radius] of [[5, ink.paper, 7], [2.2, ink.ring, 7]]) {
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.beginPath();
      pen.arc(this.x(i), this.y(i), radius, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.fillStyle = colourOf(this, i);
    pen.beginPath();
    pen.arc(this.x(i), this.y(i), 4, 0, 2 * Math.PI);
    pen.fill();
  }

  nearest(px, py, reach) {
    const x = (px - this.margin) / this.unit - FULL, y = FULL - (py - this.margin) / this.unit;
    const far = reach / this.unit;
    let best = -1, least = far * far;
    for (let a = this.cell(Math.max(-FULL, x - far)); a <= this.cell(Math.min(FULL, x + far)); a++)
      for (let b = this.cell(Math.max(-FULL, y - far)); b <= this.cell(Math.min(FULL, y + far)); b++)
        for (const i of this.cells[a + CELLS * b]) {
          if (faded(i)) continue;
          const d = (this.xy[2 * i] - x) ** 2 + (this.xy[2 * i + 1] - y) ** 2;
          if (d < least) { least = d; best = i; }
        }
    return best;
  }

  // The nearest point from the current one towards an arrow key, within a quarter turn.
  step(dx, dy) {
    if (state.hover < 0) return this.nearest(this.size / 2, this.size / 2, this.size);
    const x = this.xy[2 * state.hover], y = this.xy[2 * state.hover + 1];
    let best = state.hover, least = Infinity;
    for (let i = 0; i < n; i++) {
      if (i === state.hover || faded(i)) continue;
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
    const what = `${count.toLocaleString("en")} rows chosen in ${this.name}${classesOf(inside, count)}`;
    say(count ? `${what}. Escape frees them.` : "");
  }
}

function shape(pen, second, x, y, r) {
  if (!second) return pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.moveTo(x, y - 1.25 * r);
  pen.lineTo(x + 1.15 * r, y + 0.8 * r);
  pen.lineTo(x - 1.15 * r, y + 0.8 * r);
  pen.closePath();
}

function classesOf(inside, count) {
  if (!codes) return "";
  const found = new Map();
  for (let i = 0; i < n; i++) if (inside[i]) found.set(codes[i], (found.get(codes[i]) || 0) + 1);
  const most = [...found].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return ": " + most.map(([code, k]) => `${nameOf(code)} ${Math.round((100 * k) / count)} %`).join(", ");
}
