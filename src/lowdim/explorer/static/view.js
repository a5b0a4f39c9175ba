// One map on the page: its canvases, the effect of pointer and keys, and what is drawn over the points.
import { DENSE_ROWS, shuffledRows } from "./gl.js";
import { Camera, projected, frameAround, frameOf } from "./camera.js";
import { enclosed } from "./lasso.js";
import { DOUBTFUL } from "./files.js";

const NAME_SIZES = [15, 12.5, 11.5], NAME_WIDTH = 26; // pixels by level, and characters of a line
const ARROWS = 3, ARROW = 72; // columns whose arrows are drawn, and pixels of the longest
const REACH = 14; // pixels from the pointer within which a row is found
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  // `host` knows painter, ink(view), selection, hover, pinned, placed(map), colours, tool and is notified of events.
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.base = root.appendChild(document.createElement("canvas"));
    this.over = root.appendChild(document.createElement("canvas"));
    this.map = null;
    this.camera = new Camera(2);
    this.blend = 1;
    this.outline = null;
    this.density = null; // null: by the number of rows
    this.listen();
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
  }

  remove() { this.sizes.disconnect(); cancelAnimationFrame(this.asked); this.root.replaceChildren(); }

  show(map) {
    if (this.map?.dims !== map?.dims) this.camera = new Camera(map?.dims ?? 2);
    this.map = map;
    this.blend = 1;
    if (map?.cloud.count) this.frame(true);
    this.refresh();
  }

  // Maps of a sequence have one frame, so that only rows move.
  frame(first) {
    const row = this.host.sequence(), maps = row.includes(this.map) ? row.filter(({ cloud, dims }) => cloud.count && dims === this.map.dims) : [this.map];
    this.camera.follow(frameAround(maps.map(({ cloud }) => frameOf(cloud.places[1], cloud.dims, cloud.boxes[1], cloud.present))), first);
  }

  // Another map of a sequence: its rows come from where they are in this one.
  glide(map, seconds) {
    if (!map.cloud.count || !this.map?.cloud.count || map.dims !== this.map.dims) { this.show(map); return; }
    map.cloud.from(this.map.cloud);
    this.map = map;
    this.frame(false);
    this.blend = STILL.matches ? 1 : 0;
    this.pace = { start: performance.now(), seconds };
    this.refresh();
  }

  // A new frame has been pushed to the map's cloud: move there within `seconds`.
  move(seconds) {
    this.frame(this.map.frames <= 1);
    this.blend = STILL.matches || !seconds ? 1 : 0;
    this.pace = { start: performance.now(), seconds };
    this.refresh();
  }

  resize() {
    const dots = window.devicePixelRatio || 1;
    [this.width, this.height] = [this.root.clientWidth, this.root.clientHeight];
    if (!this.width || !this.height) return;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(this.width * dots);
      canvas.height = Math.round(this.height * dots);
    }
    this.dots = dots;
    this.host.tip?.point(null);
    this.refresh(true);
  }

  refresh(now = false) {
    if (now) { cancelAnimationFrame(this.asked); this.asked = 0; this.draw(); return; }
    this.asked ||= requestAnimationFrame(() => { this.asked = 0; this.draw(); });
  }

  get dense() { return this.density ?? this.host.n > DENSE_ROWS; }

  // Settings of the renderer: sizes in pixels of the screen.
  how() {
    const { width, height, dots, camera, host } = this, n = host.n;
    const side = Math.min(width, height), near = camera.dims === 3 ? 1.15 : 1;
    const radius = Math.max(0.7, Math.min(4.2, (0.217 * Math.max(side, 420)) / n ** 0.42)) * Math.min(camera.zoom ** 0.4, 2.4) * near;
    return {
      width: this.base.width, height: this.base.height, eye: camera.eye(this.blend, width, height), blend: this.blend,
      solid: camera.dims === 3, radius: radius * dots, opacity: n > 6000 ? Math.min(0.62 + 0.05 * Math.log(camera.zoom), 0.9) : 0.85,
      rest: host.colours.rest, density: this.dense,
    };
  }

  draw() {
    if (!this.width || !this.base.width || this.host.painter?.lost) return;
    if (this.blend < 1) {
      this.blend = Math.min(1, (performance.now() - this.pace.start) / 1000 / this.pace.seconds);
      if (this.blend < 1) this.refresh();
    }
    const pen = this.base.getContext("2d"), { width, height } = this.base;
    pen.clearRect(0, 0, width, height);
    if (this.map?.cloud.count && this.host.painter) {
      const { painter } = this.host;
      painter.draw(this.map.cloud, this.host.ink(this), this.how());
      pen.drawImage(painter.canvas, 0, painter.canvas.height - height, width, height, 0, 0, width, height);
    } else if (this.map?.cloud.count && this.host.saved) this.drawPlainly(pen);
    this.mark();
  }

  // Without WebGL2, and without Python, which would draw the map: squares, those that are greyed first.
  drawPlainly(pen) {
    const { cloud } = this.map, { radius, opacity } = this.how(), { dots } = this, ink = this.host.ink(this), place = [0, 0, 0];
    this.eye = this.camera.eye(this.blend, this.width, this.height);
    if (this.order?.length !== cloud.count) this.order = shuffledRows(cloud.count);
    for (const front of [false, true]) {
      pen.globalAlpha = front ? opacity : 0.1;
      for (const row of this.order) {
        if (!cloud.has(row) || this.greyed(row) === front) continue;
        const [x, y] = projected(this.eye, cloud.at(row, this.blend, place), this.width, this.height);
        pen.fillStyle = ink.css(row);
        pen.fillRect(x * dots - radius, y * dots - radius, 2 * radius, 2 * radius);
      }
    }
    pen.globalAlpha = 1;
  }

  // Whether a row is outside of the selection or of the classes of the legend.
  greyed(row) { return Boolean(this.host.faded?.[row]) || this.host.ink(this).greyed(row); }

  at(row) { return projected(this.eye, this.map.cloud.at(row, this.blend), this.width, this.height); }

  // Over the points: lines to neighbours, rows from a file, the row under the pointer, and the outline being drawn.
  mark() {
    const pen = this.over.getContext("2d"), { host, map } = this, { colours } = host;
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.eye = this.camera.eye(this.blend, this.width, this.height);
    if (map?.cloud.count) {
      const { pinned, links } = host;
      if (pinned >= 0 && links && map.cloud.has(pinned)) this.drawLinks(pen, pinned, links);
      if (pinned >= 0 && host.moves?.[map.id] && map.cloud.has(pinned)) this.drawMoves(pen, pinned, host.moves[map.id]);
      this.drawPlaced(pen, host.placed(map));
      if (map.names) this.drawNames(pen, map.names);
      this.drawPins(pen, map.pins ?? []);
      for (const [row, radius] of [[pinned, 8], [host.hover, 7]])
        if (row >= 0 && map.cloud.has(row)) this.ring(pen, ...this.at(row), radius, host.ink(this).css(row));
    }
    if (this.pull) {
      const [[x, y], [u, v]] = this.pull, turn = Math.atan2(v - y, u - x);
      for (const [width, style] of [[5, colours.paper], [2, colours.accent]]) {
        pen.lineWidth = width;
        pen.strokeStyle = style;
        pen.beginPath();
        pen.moveTo(x, y); pen.lineTo(u, v);
        for (const side of [2.6, -2.6]) { pen.moveTo(u, v); pen.lineTo(u + 11 * Math.cos(turn + side), v + 11 * Math.sin(turn + side)); }
        pen.stroke();
      }
    }
    if (this.outline) {
      pen.beginPath();
      this.outline.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
      pen.fillStyle = colours.veil;
      pen.fill("evenodd");
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.strokeStyle = colours.accent;
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  ring(pen, x, y, _, radius, fill) {
    for (const [width, style] of [[5, this.host.colours.paper], [2.2, this.host.colours.ink]]) {
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.fillStyle = fill;
    pen.beginPath();
    pen.arc(x, y, 4, 0, 2 * Math.PI);
    pen.fill();
  }

  // Neighbours in the data: solid lines to those near on the map, dashed lines to the others.
  drawLinks(pen, row, { index, kept }) {
    const { colours } = this.host, [x, y] = this.at(row), keeps = kept[this.map.id] ?? [];
    index.forEach((other, i) => {
      if (!this.map.cloud.has(other)) return;
      const [u, v] = this.at(other), torn = !keeps[i];
      for (const [width, style] of [[torn ? 4 : 3.6, colours.paper], [torn ? 1.8 : 1.4, torn ? colours.warn : colours.accent]]) {
        pen.lineWidth = width;
        pen.strokeStyle = style;
        pen.setLineDash(torn && style === colours.warn ? [6, 4] : []);
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(u, v);
        pen.stroke();
      }
      pen.setLineDash([]);
      pen.fillStyle = torn ? colours.warn : colours.accent;
      pen.beginPath();
      pen.arc(u, v, 3.2, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  // Names of islands, large scales first; one that would cover another waits until the map is magnified.
  drawNames(pen, names) {
    const { colours } = this.host, taken = [];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const { name, at, level } of names) {
      const size = NAME_SIZES[level], [x, y] = projected(this.eye, at, this.width, this.height), lines = nameLines(name);
      pen.font = `${level ? 500 : 700} ${size}px system-ui, sans-serif`;
      const wide = Math.max(...lines.map((line) => pen.measureText(line).width)) / 2 + 3, high = (lines.length * size * 1.15) / 2 + 2;
      if (x < 0 || y < 0 || x > this.width || y > this.height) continue;
      if (level > 0 && this.camera.zoom < level) continue;
      if (taken.some(([u, v, w, h]) => Math.abs(u - x) < w + wide && Math.abs(v - y) < h + high)) continue;
      taken.push([x, y, wide, high]);
      lines.forEach((line, i) => {
        const v = y + (i - (lines.length - 1) / 2) * size * 1.15;
        pen.lineWidth = 3.5;
        pen.lineJoin = "round";
        pen.strokeStyle = colours.paper;
        pen.strokeText(line, x, v);
        pen.fillStyle = colours.ink;
        pen.fillText(line, x, v);
      });
    }
    this.named = taken.length;
    pen.textBaseline = "alphabetic";
  }

  // Which way the columns move the row that do so most, with their names.
  drawMoves(pen, row, columns) {
    const { colours } = this.host, start = [...this.map.cloud.at(row, this.blend)], [x, y] = this.at(row);
    const most = columns[0] ? Math.hypot(...columns[0].toward) : 1;
    pen.font = "600 12px system-ui, sans-serif";
    for (const { column, toward } of columns.slice(0, ARROWS)) {
      const far = Math.hypot(...toward), tip = start.map((v, i) => v + (toward[i] ?? 0) / (far || 1));
      const [u, v] = projected(this.eye, tip, this.width, this.height), turn = Math.atan2(v - y, u - x);
      const length = ARROW * (far / most), [a, b] = [x + length * Math.cos(turn), y + length * Math.sin(turn)];
      for (const [width, style] of [[4.5, colours.paper], [2, colours.ink]]) {
        pen.lineWidth = width;
        pen.strokeStyle = style;
        pen.beginPath();
        pen.moveTo(x, y); pen.lineTo(a, b);
        for (const side of [2.6, -2.6]) { pen.moveTo(a, b); pen.lineTo(a + 9 * Math.cos(turn + side), b + 9 * Math.sin(turn + side)); }
        pen.stroke();
      }
      pen.textAlign = a < x ? "right" : "left";
      pen.lineWidth = 3;
      pen.strokeStyle = colours.paper;
      pen.strokeText(column, a + (a < x ? -5 : 5), b + 4);
      pen.fillStyle = colours.ink;
      pen.fillText(column, a + (a < x ? -5 : 5), b + 4);
    }
  }

  // Rows that a person has pinned, as small squares.
  drawPins(pen, rows) {
    const side = rows.length > 500 ? 3 : 5;
    pen.lineWidth = 1.2;
    pen.strokeStyle = this.host.colours.ink;
    for (const row of rows) {
      if (!this.map.cloud.has(row)) continue;
      const [x, y] = this.at(row);
      pen.strokeRect(x - side / 2, y - side / 2, side, side);
    }
  }

  // Rows of a dropped file as diamonds: filled if their trust is high, hollow if low.
  drawPlaced(pen, placed) {
    for (const { positions, trust } of placed) {
      const dims = this.map.dims, count = positions.length / dims, size = count > 2000 ? 3 : 5.5;
      for (let i = 0; i < count; i++) {
        const [x, y] = projected(this.eye, positions.subarray(i * dims, (i + 1) * dims), this.width, this.height);
        pen.beginPath();
        pen.moveTo(x, y - size); pen.lineTo(x + size, y); pen.lineTo(x, y + size); pen.lineTo(x - size, y);
        pen.closePath();
        pen.globalAlpha = 0.15 + 0.85 * trust[i];
        pen.fillStyle = this.host.colours.mark;
        pen.fill();
        pen.globalAlpha = 1;
        pen.lineWidth = 1.6;
        pen.strokeStyle = trust[i] < DOUBTFUL ? this.host.colours.mark : this.host.colours.paper;
        pen.stroke();
      }
    }
  }

  pick(x, y, reach = REACH) {
    if (!this.map?.cloud.count) return -1;
    const { dots } = this;
    if (!this.host.painter) return this.nearest(x, y, reach);
    return this.host.painter.pick(this.map.cloud, this.host.ink(this), this.how(), x * dots, (this.height - y) * dots, reach * dots);
  }

  // The row that is drawn nearest to a place, within reach.
  nearest(x, y, reach) {
    const { cloud } = this.map, place = [0, 0, 0];
    let best = -1, least = reach * reach;
    for (let row = 0; row < cloud.count; row++) {
      if (!cloud.has(row) || this.greyed(row)) continue;
      const [u, v] = projected(this.eye, cloud.at(row, this.blend, place), this.width, this.height), d = (u - x) ** 2 + (v - y) ** 2;
      if (d < least) { least = d; best = row; }
    }
    return best;
  }

  // The nearest row from the current one towards an arrow key, within a quarter turn.
  step(from, dx, dy) {
    if (from < 0 || !this.map.cloud.has(from)) return this.pick(this.width / 2, this.height / 2, this.width);
    const { cloud } = this.map, [x, y] = this.at(from), place = [0, 0, 0];
    let best = from, least = Infinity;
    for (let i = 0; i < cloud.count; i++) {
      if (i === from || !cloud.has(i) || this.greyed(i)) continue;
      const [u, v] = projected(this.eye, cloud.at(i, this.blend, place), this.width, this.height);
      const along = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy - (v - y) * dx);
      const d = (u - x) ** 2 + (v - y) ** 2;
      if (along > 0 && aside <= along && d < least) { least = d; best = i; }
    }
    return best;
  }

  choose(how) {
    const { cloud } = this.map, ink = this.host.ink(this);
    const inside = enclosed(this.outline, cloud, this.camera.eye(this.blend, this.width, this.height), this.blend, this.width, this.height);
    if (ink.filtered) for (let i = 0; i < inside.length; i++) if (inside[i] && ink.greyed(i)) inside[i] = 0;
    this.outline = null;
    this.host.chosen(inside, how, this);
  }

  listen() {
    const { root } = this;
    let held = null;
    const place = (event) => {
      const box = root.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    root.addEventListener("pointerdown", (event) => {
      if (!this.map?.cloud.count || event.button > 2) return;
      const at = place(event), { tool } = this.host;
      const drags = event.button === 0 && tool === "drag" && !event.shiftKey && this.host.selection && this.camera.dims < 3;
      const draws = !drags && event.button === 0 && ((tool !== "move" && tool !== "drag") || event.shiftKey);
      const moves = this.camera.dims === 3 && event.button === 0 ? "turn" : "shift";
      held = { at, last: at, kind: drags ? "drag" : draws ? (tool === "box" ? "box" : "lasso") : moves, far: 0 };
      root.setPointerCapture(event.pointerId);
    });
    root.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (!held) { this.look(x, y); return; }
      const [dx, dy] = [x - held.last[0], y - held.last[1]];
      held.far = Math.max(held.far, Math.hypot(x - held.at[0], y - held.at[1]));
      if (held.far <= 4) return;
      held.last = [x, y];
      if (held.kind === "turn") this.camera.turn(dx, dy);
      else if (held.kind === "shift") this.camera.shift(dx, dy);
      else if (held.kind === "drag") { this.pull = [held.at, [x, y]]; this.mark(); return; }
      else if (held.kind === "box") { const [u, v] = held.at; this.outline = [[u, v], [x, v], [x, y], [u, y]]; }
      else (this.outline ??= [held.at]).push([x, y]);
      if (this.outline) this.mark();
      else this.changed();
    });
    const end = (event) => {
      if (!held) return;
      const [x, y] = place(event), { far, kind, at } = held;
      held = this.pull = null;
      if (kind === "drag" && far > 4) { this.host.dragged(this, this.lengths(x - at[0], y - at[1])); this.mark(); return; }
      if (this.outline) {
        const how = event.altKey ? "less" : event.shiftKey && this.host.tool !== "move" ? "more" : "new";
        this.choose(how);
      } else if (far <= 4) this.host.clicked(this, event.pointerType === "mouse" && this.host.hover >= 0 ? this.host.hover : this.pick(x, y));
    };
    root.addEventListener("pointerup", end);
    root.addEventListener("pointercancel", () => { held = this.outline = this.pull = null; this.mark(); });
    root.addEventListener("pointerleave", () => { if (!held) { this.looking = null; this.host.hovered(this, -1); } });
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    root.addEventListener("dblclick", () => { this.camera.home(); this.changed(); });
    root.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.camera.closer(Math.exp(-event.deltaY * (event.deltaMode ? 0.04 : 0.0016)), ...place(event), this.width, this.height);
      this.changed();
    }, { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
  }

  // What pixels are in the coordinates of a map in the plane.
  lengths(dx, dy) {
    const at = (place) => projected(this.camera.eye(this.blend, this.width, this.height), place, this.width, this.height);
    const [x, y] = at([0, 0]), [a, b] = at([1, 0]), [c, d] = at([0, 1]);
    const [p, q, r, s] = [a - x, b - y, c - x, d - y], area = p * s - q * r;
    return [(s * dx - r * dy) / area, (p * dy - q * dx) / area];
  }

  // The search for the row under the pointer waits for the next frame, so that it runs once.
  look(x, y) {
    const first = !this.looking;
    this.looking = [x, y];
    if (first) requestAnimationFrame(() => {
      if (!this.looking) return;
      const [u, v] = this.looking;
      this.looking = null;
      this.host.hovered(this, this.pick(u, v), u, v);
    });
  }

  changed() { this.refresh(); this.host.cameraMoved?.(this); }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const middle = [this.width / 2, this.height / 2, this.width, this.height];
    if (event.ctrlKey || event.metaKey || event.altKey || !this.map?.cloud.count) return;
    if (way && event.shiftKey) {
      if (this.camera.dims === 3) this.camera.turn(20 * way[0], 20 * way[1]);
      else this.camera.shift(-40 * way[0], -40 * way[1]);
      this.changed();
    } else if (way) {
      const row = this.step(this.host.hover, ...way), [x, y] = row >= 0 ? this.at(row) : [0, 0];
      this.host.hovered(this, row, x, y);
    } else if (event.key === "Enter" && this.host.hover >= 0) this.host.clicked(this, this.host.hover);
    else if (event.key === "+" || event.key === "=") { this.camera.closer(1.4, ...middle); this.changed(); }
    else if (event.key === "-") { this.camera.closer(1 / 1.4, ...middle); this.changed(); }
    else if (event.key === "0" || event.key === "Home") { this.camera.home(); this.changed(); }
    else return;
    event.preventDefault();
  }
}

// A name in lines, broken between its terms.
function nameLines(name) {
  const lines = [""], parts = name.split(" · ");
  parts.forEach((part, i) => {
    const term = part + (i + 1 < parts.length ? " ·" : ""), last = lines[lines.length - 1];
    if (last && last.length + 1 + term.length > NAME_WIDTH) lines.push(term);
    else lines[lines.length - 1] = `${last} ${term}`.trim();
  });
  return lines;
}
