// The page: its state (maps, columns, the selection, the pinned row) and the notification of its parts.
import { Line } from "./wire.js";
import { Painter, Cloud, Ink } from "./gl.js";
import { heatPalette, pageColours, valueShades } from "./colours.js";
import { packedBits, unpackedBits } from "./lasso.js";
import { Legend } from "./legend.js";
import { Runs } from "./runs.js";
import { Table } from "./table.js";
import { Pictures } from "./pictures.js";
import { Panes } from "./panes.js";
import { layOut } from "./layout.js";
import { acceptDrops } from "./files.js";
import { rowFacts, selectionFacts } from "./facts.js";
import { make, button, grouped, plural, inWords, bytesToText, textToBytes } from "./dom.js";

const NEIGHBOURS = 10;
const PINNED = ["tsne", "sne", "umap", "pacmap", "mds"]; // methods whose rows can be held
const REFITS = 3; // samples fitted for the stability of a map
const STRONGEST = 0.5; // share of misplaced neighbours from which the colour is strongest

// Strength of the colour: dubious rows are strongest; what moves is relative to what moves least and most.
function strengths(kind, { score, dubious, moves }) {
  if (kind === "score") return score.map((one, i) => (dubious[i] > 0 ? STRONGEST : 0.4 * STRONGEST * one));
  const known = moves.filter(Number.isFinite).sort(), [low, high] = [0.02, 0.98].map((part) => known[Math.floor(part * (known.length - 1))] ?? 0);
  return moves.map((one) => STRONGEST * Math.min(1, Math.max(0, (one - low) / Math.max(high - low, 1e-9))));
}

export class Explorer {
  // `saved`: there is no Python behind the channel; `computes`: there is something that computes maps all the same.
  constructor(root, channel, { saved = null, computes = !saved } = {}) {
    Object.assign(this, { root, saved, computes, maps: new Map(), columns: new Map(), selection: null, selected: 0, hover: -1, pinned: -1,
      links: null, moves: null, tool: "move", latest: {} });
    this.line = new Line(channel);
    for (const type of ["frame", "loss", "status", "done", "maps", "dropped", "columns", "error"])
      this.line.on(type, (message) => this.heard(type, message));
    this.line.on("closed", () => this.failed(new Error("The connection to Python is closed: the maps remain, but nothing new can be computed.")));
    this.ready = this.begin();
    this.ready.catch((error) => this.failed(error));
  }

  async begin() {
    this.hello = await this.line.ask("hello");
    this.n = this.hello.n;
    this.methods = this.hello.methods ?? [];
    try { this.painter = new Painter(this.n); } catch (error) { this.painter = null; this.refusal = error.message; }
    if (this.painter) this.painter.onrestored = () => this.panes.redraw();
    this.inkOfColumn = new Ink(this.painter);
    this.pictures = new Pictures(this.line, this.hello.images);
    const parts = layOut(this);
    Object.assign(this, parts);
    this.colours = pageColours(this.root);
    this.panes = new Panes(parts.stage, this);
    this.legend = new Legend(parts.colour, { root: this.root, ink: this.inkOfColumn, groupings: this.saved ? [] : this.hello.groupings ?? [], group: (method) => this.group(method), say: (text) => this.say(text),
      painted: () => this.panes.redraw(), colourBy: (name) => this.colourBy(name) });
    this.legend.offer(this.hello.columns);
    if (this.computes) this.runs = new Runs(parts.making, this);
    this.table = new Table(parts.rows, this);
    if (this.computes) acceptDrops(this.root, this);
    for (const info of this.hello.maps) this.mapOf(info);
    const view = this.saved?.view;
    for (const id of this.hello.doubted ?? []) this.maps.get(id).doubted = true;
    for (const state of view?.maps ?? []) if (this.maps.has(state.map)) Object.assign(this.maps.get(state.map), mapOfState(state));
    this.panes.arrange(view?.panes?.length ?? 1);
    const last = [...this.maps.values()].filter((map) => map.status !== "failed").pop();
    const shown = view?.panes?.map((pane) => pane.map) ?? [(this.sequence()[0] ?? last)?.id];
    await this.colourBy(view ? view.colour ?? null : this.hello.colour ?? null, view);
    for (const { map, overlay } of view?.maps ?? []) if (overlay && this.maps.get(map)?.shares) this.overlay(this.maps.get(map), overlay);
    shown.forEach((id, i) => { if (this.maps.has(id)) this.panes.show(i, this.maps.get(id), view?.panes?.[i]); });
    await Promise.all([...this.maps.values()].filter((map) => map.status !== "failed").map((map) => this.fetch(map)));
    if (view?.selection) await this.choose(unpackedBits(textToBytes(view.selection), this.n));
    if (view?.pinned >= 0) this.hold(view.pinned);
    if (!this.maps.size && this.methods.some((method) => method.name === "pca")) {
      this.started(await this.line.ask("fit", { method: "pca", parameters: {}, dims: 2, rows: "all", start: null }), { method: "pca" });
    }
    this.table.show();
  }

  // ---- Maps ---------------------------------------------------------------------------------------------------

  mapOf(info) {
    const id = info.map;
    let map = this.maps.get(id);
    if (!map) {
      const dims = info.dims ?? 2;
      map = { id, dims, method: info.method, parameters: info.parameters ?? {}, status: info.status ?? "running", message: info.message,
        rows: info.rows ?? "all", cloud: new Cloud(this.painter, dims), frames: 0, placed: [], loss: null, overlay: null };
      map.title = this.titleOf(map, info.title);
      this.maps.set(id, map);
      this.panes?.offer();
    }
    return Object.assign(map, { pins: info.pins ?? map.pins ?? [], status: info.status ?? map.status, message: info.message ?? map.message, stage: info.stage, share: info.share });
  }

  // Method and changed parameters; a number only where these are the same.
  titleOf(map, method) {
    const words = [method || map.method || "map", inWords(map.parameters, 28), map.dims === 3 ? "in 3D" : "", map.rows === "all" || this.hello.sequence?.includes(map.id) ? "" : "of a selection"];
    const title = words.filter(Boolean).join(" "), taken = [...this.maps.values()].map((one) => one.title);
    let name = title;
    for (let turn = 2; taken.includes(name); turn++) name = `${title} (${turn})`;
    return name;
  }

  // Maps in a row that a slider moves through.
  sequence() { return (this.hello.sequence ?? []).map((id) => this.maps.get(id)).filter(Boolean); }

  get map() { return this.panes?.active?.view.map ?? null; }
  get active() { return this.panes.active.view; }

  async fetch(map) {
    const frame = await this.line.ask("map", { map: map.id }).catch(() => null); // none yet: a push brings it
    if (frame) this.frame(frame);
  }

  started(reply, { method, dims = 2, rows = "all", parameters = {} }) {
    // messages about a short fit may arrive before the reply that it has started
    const info = { map: reply.map, method, dims, parameters, rows: rows === "all" ? "all" : [this.selected], status: "running" };
    const map = this.maps.get(reply.map) ?? this.mapOf({ ...info, ...reply });
    map.local = Boolean(this.saved); // computed in the page
    if (!map.cloud.count) this.fetch(map);
    this.panes.show(this.panes.at, map);
    this.sayStatus(map);
  }

  // The map is computed anew, with other parameters.
  again(map, reply) {
    const { parameters, title } = { ...map, ...reply };
    this.maps.delete(map.id); // the name of its own place is free
    Object.assign(map, { parameters, loss: null, quality: null, frames: 0, overlay: null, shares: null, doubted: false, iteration: 0, placed: [], names: null, local: Boolean(this.saved) });
    map.title = this.titleOf(map, title);
    this.maps.set(map.id, map);
    this.panes.offer();
    this.told(map);
  }

  heard(type, message) {
    if (type === "error" && (message.map === null || message.map === undefined)) { this.failed(new Error(message.message)); return; }
    if (type === "maps") {
      if (!this.panes) return;
      for (const info of message.maps) this.told(this.mapOf(info));
      for (const id of [...this.maps.keys()]) if (!message.maps.some((info) => info.map === id)) this.forget(id);
      return;
    }
    if (type === "columns") { this.columnsChanged(message.columns); return; }
    if (type === "status" && this.panes && message.method) {
      const before = this.maps.get(message.map)?.status, map = this.mapOf(message);
      if (before !== undefined && before !== map.status) this.sayStatus(map);
      this.told(map);
      return;
    }
    if (type === "frame") { if (this.panes) this.frame(message, true); return; }
    const map = this.maps.get(message.map);
    if (!map) return;
    if (type === "dropped") { this.forget(map.id); return; }
    if (type === "loss") map.loss = message;
    else if (type === "status") Object.assign(map, { status: message.status, message: message.message });
    else if (type === "done") {
      const ended = ["stopped", "failed"].includes(map.status) ? map.status : "done";
      Object.assign(map, { seconds: message.seconds, left: null, quality: message.quality ?? {} });
      if (ended !== map.status) { map.status = ended; this.sayStatus(map); }
    }
    else if (type === "error") { Object.assign(map, { status: "failed", message: message.message }); this.failed(new Error(message.message)); }
    this.told(map);
  }

  frame(message, pushed = false) {
    const map = this.maps.get(message.map);
    if (!map) return;
    const now = performance.now(), seconds = map.frames ? Math.min(0.6, Math.max(0.05, (now - map.heard) / 1000)) : 0;
    map.heard = now;
    if (this.saved && pushed) Object.assign(map, { shares: null, doubted: false }); // of another frame
    if (map.start && !message.start) map.frames = 0; // the first step of the descent, at its own scale
    map.start = Boolean(message.start);
    map.frames += 1;
    const { iteration, total, left, seconds: spent } = message;
    Object.assign(map, { frame: message.frame, iteration, total, seconds: spent ?? map.seconds, left });
    const { name, iterations, values } = map.loss ?? { name: "loss", iterations: [], values: [] };
    if (Number.isFinite(message.loss) && iteration > (iterations.at(-1) ?? -1))
      map.loss = { name, iterations: [...iterations, iteration], values: [...values, message.loss] };
    const { present } = message.arrays;
    if (message.dims !== map.dims) { map.dims = message.dims; map.cloud.forget(); map.cloud = new Cloud(this.painter, map.dims); }
    map.cloud.push(message.arrays.positions, message.box, present ? unpackedPresence(present, this.n) : null);
    this.panes.moved(map, pushed && map.frames > 1 ? seconds : 0);
    if (pushed) this.line.tell("ack", { map: map.id, frame: message.frame });
    this.told(map);
    if (map.overlay && map.overlay.kind !== "moves" && this.computes && !map.start) this.misplaced(map, map.overlay.kind);
    if (this.pinned >= 0 && (map.frames === 1 || message.final)) this.linkUp();
  }

  told(map) {
    this.panes.told(map);
    if (map === this.map) this.runs?.tell(map);
  }

  looked() { this.runs?.tell(this.map); this.linkUp(); }

  forget(id) {
    const map = this.maps.get(id);
    this.maps.delete(id);
    this.panes.gone(map);
    map.cloud.forget();
  }

  // Whether rows of a map can be held.
  holds(map) { return !this.saved && PINNED.includes(map?.method) && map.rows === "all" && ["done", "stopped"].includes(map.status); }

  // Rows are held, let go, or the map is computed again around those held.
  async pinning(type, map, shift = null) {
    try {
      const reply = await this.line.ask(type, shift ? { map: map.id, shift } : { map: map.id });
      if (type !== "relax") { map.pins = reply.pins; this.told(map); this.panes.remark(); return; }
      this.started(reply, map);
      this.maps.get(reply.map).pins = reply.pins;
    } catch (error) { this.failed(error); }
  }

  async dragged({ map }, shift) {
    await this.pinning("pin", map, shift);
    if (map.pins?.length) await this.pinning("relax", map);
  }

  drop(map) { this.line.ask("drop", { map: map.id }).then(() => { if (this.maps.has(map.id)) this.forget(map.id); }, (error) => this.failed(error)); }

  // ---- Colours ------------------------------------------------------------------------------------------------

  repaint() {
    this.colours = pageColours(this.root);
    this.legend.paint();
    for (const map of this.maps.values()) map.overlay?.ink.setPalette(heatPalette(this.root));
    this.panes.redraw();
  }

  async column(name, again = false) {
    if (again || !this.columns.has(name)) {
      const reply = await this.line.ask("column", { name });
      const told = this.hello.columns.find((one) => one.name === name);
      const { codes, values } = reply.arrays, categories = reply.categories ?? told?.categories;
      this.columns.set(name, { kind: reply.kind, codes, values, categories, missing: told?.missing ?? 0 });
    }
    return this.columns.get(name);
  }

  async colourBy(name, view = null) {
    try {
      this.legend.show(name, name === null ? null : await this.column(name));
      if (view?.scale) this.legend.rescale(view.scale);
      if (!this.saved) for (const map of this.maps.values()) if (map.names) this.nameIslands(map, true);
      if (view) { this.legend.kept = new Set(view.kept ?? []); this.legend.range = view.range ?? null; this.legend.paint(); }
    } catch (error) { this.failed(error); this.legend.show(null, null); }
  }

  // Labels were given, here or in another tab.
  columnsChanged(columns) {
    if (!this.legend) return;
    const known = (name) => this.hello.columns.some((one) => one.label && one.name === name);
    this.hello.columns = columns.map((one) => ({ ...one, label: one.label ?? known(one.name) }));
    this.legend.offer(this.hello.columns);
    for (const { name } of this.hello.columns.filter((one) => one.label)) {
      this.columns.delete(name);
      if (name === this.legend.name) this.colourBy(name);
    }
  }

  ink(view) { return view.map?.overlay?.ink ?? this.inkOfColumn; }

  // Whether the shares of an overlay can be asked for.
  answers(map, kind) {
    if (!this.saved) return this.computes;
    return kind === "score" ? Boolean(map.doubted) : this.computes && ["false", "missing"].includes(kind);
  }

  // Which rows have neighbours that are false (near on the map alone) or missing (near in the data alone).
  async misplaced(map, kind) {
    if (!kind) { map.overlay = null; this.panes.redraw(); this.panes.told(map); return; }
    if (this.saved && (map.shares?.[kind] || !this.answers(map, kind))) { if (map.shares?.[kind]) this.overlay(map, kind); return; }
    if (map.asking) { map.again = kind; return; }
    map.asking = true;
    try {
      if (kind === "score" || kind === "moves") {
        if (kind === "moves") this.say("fitting samples …");
        const { arrays, count } = await this.line.ask("reliability", { map: map.id, refits: kind === "moves" ? REFITS : 0 });
        map.shares = { ...map.shares, [kind]: strengths(kind, arrays) };
        map.dubious = arrays.dubious;
        this.say(`${plural(count, "row")} of ${map.title} are at dubious places`);
      } else {
        const { arrays } = await this.line.ask("distortion", { map: map.id, k: NEIGHBOURS });
        map.shares = { ...map.shares, false: arrays.false, missing: arrays.missing };
      }
      this.overlay(map, kind);
    } catch (error) { map.overlay = null; this.failed(error); }
    map.asking = false;
    if (map.again) { const next = map.again; map.again = null; if (map.overlay) setTimeout(() => this.misplaced(map, next), 500); }
  }

  // Names of the islands, written over the map: those that the zoom has room for.
  async nameIslands(map, again = false) {
    if (map.names && !again) map.names = null;
    else {
      try { map.names = (await this.line.ask("names", { map: map.id, column: this.legend.name })).names; }
      catch (error) { this.failed(error); return; }
      if (!map.names.length) this.say(`${map.title} has no islands that could be named`);
    }
    this.panes.remark();
    this.panes.told(map);
  }

  // Groups of rows, found in the data, become a column of labels.
  async group(method) {
    this.say(`${method} looks for groups …`);
    try {
      const { column } = await this.line.ask("group", { method });
      const told = { missing: 0, ...column, label: true };
      this.columnsChanged([told, ...this.hello.columns.filter((one) => one.name !== told.name)]);
      await this.colourBy(told.name);
      this.say(`${plural(told.categories.length, "group")} by ${method}`);
    } catch (error) { this.failed(error); }
  }

  overlay(map, kind) {
    const values = map.shares[kind];
    const ink = map.overlay?.ink ?? new Ink(this.painter);
    ink.setShades(valueShades(values, { range: [0, STRONGEST] }).shades);
    ink.setPalette(heatPalette(this.root));
    map.overlay = { kind, ink, values };
    this.panes.redraw();
    this.panes.told(map);
  }

  // ---- Rows ---------------------------------------------------------------------------------------------------

  hovered(view, row, x, y) {
    if (row !== this.hover) {
      this.hover = row;
      this.panes.remark();
      if (row >= 0 && view) this.say(this.describe(row).join(", "));
    }
    this.tip.point(view && row >= 0 ? view : null, row, x, y);
  }

  describe(row) {
    const words = [`row ${grouped(row + 1)}`], value = this.legend.valueOf(row);
    if (value !== null) words.push(`${this.legend.name} ${value}`);
    return words;
  }

  clicked(view, row) {
    this.panes.focus(view);
    if (row < 0) this.free(); else this.hold(row);
  }

  free() { this.pinned = -1; this.links = this.moves = null; this.about.replaceChildren(); this.about.hidden = true; this.panes.remark(); }

  async hold(row) {
    this.pinned = row;
    this.links = this.moves = null;
    this.panes.remark();
    this.showRow({});
    try {
      const [page] = await Promise.all([this.line.ask("rows", { start: 0, count: 1, of: [row] }), this.pictures.want([row])]);
      if (this.pinned === row) this.showRow({ columns: page.columns, cells: page.rows[0] });
      await this.linkUp();
    } catch (error) { if (!this.saved) this.failed(error); }
  }

  // Neighbours of the pinned row, and which of them each visible map keeps.
  async linkUp() {
    const row = this.pinned, maps = this.panes.maps.filter((map) => map.cloud.count);
    if (row < 0 || !this.computes || !maps.length) return;
    const kept = {};
    try {
      const replies = await Promise.all(maps.map((map) => this.line.ask("neighbours", { row, k: NEIGHBOURS, map: map.id })));
      maps.forEach((map, i) => { kept[map.id] = replies[i].arrays.kept; });
      await this.pictures.want(replies[0].arrays.index);
      if (this.pinned !== row) return;
      this.links = { index: replies[0].arrays.index, distance: replies[0].arrays.distance, kept };
    } catch (error) { this.failed(error); return; }
    this.showRow({});
    this.panes.remark();
    this.explain(row, maps);
  }

  // Columns that move the pinned row on each finished map, and arrows of the first ones.
  async explain(row, maps) {
    const ended = maps.filter((map) => ["done", "stopped"].includes(map.status));
    try {
      const replies = await Promise.all(ended.map((map) => this.line.ask("explain", { row, map: map.id })));
      if (this.pinned !== row) return;
      this.moves = Object.fromEntries(replies.map((one) => [one.map, one.columns]));
    } catch { return; } // a method without derivatives has no arrows
    this.showRow({});
    this.panes.remark();
  }

  showRow(known) {
    this.rowKnown = { ...(this.rowKnown?.row === this.pinned ? this.rowKnown : {}), row: this.pinned, ...known };
    this.about.hidden = false;
    this.about.replaceChildren(...rowFacts({ ...this.rowKnown, links: this.links, moves: this.moves, maps: this.panes.maps, picture: (row) => this.pictures.of(row),
      hold: (row) => this.hold(row), free: () => this.free() }));
  }

  picture(row) { return this.pictures.of(row); }
  wanted(rows) { return this.pictures.want(rows); }

  // ---- Selection ----------------------------------------------------------------------------------------------

  chosen(inside, how) {
    if (how !== "new" && this.selection)
      for (let i = 0; i < inside.length; i++) inside[i] = how === "more" ? inside[i] | this.selection[i] : this.selection[i] & ~inside[i] & 1;
    this.choose(inside.some((one) => one) ? inside : null);
  }

  async choose(mask) {
    this.selection = mask;
    this.selected = mask ? mask.reduce((sum, one) => sum + one, 0) : 0;
    this.faded = mask ? mask.map((one) => 1 - one) : null;
    this.painter?.setFaded(this.faded);
    this.panes.redraw();
    this.runs?.allow();
    this.say(mask ? `${plural(this.selected, "row")} selected` : "no rows selected");
    if (!mask) { this.choice.replaceChildren(); this.choice.hidden = true; }
    const asked = (this.latest.selection = {});
    try {
      const facts = await this.line.ask("select", {}, { mask: packedBits(mask ?? new Uint8Array(this.n)) });
      if (asked !== this.latest.selection) return;
      this.table.show();
      if (mask) this.showSelection(facts);
    } catch (error) { this.failed(error); }
  }

  showSelection(facts) {
    this.choice.hidden = false;
    const title = (id) => this.maps.get(id)?.title ?? String(id), label = this.saved ? null : (column, name) => this.label(column, name);
    const keep = [button("Show rows", () => { if (!this.table.open) this.table.toggle(); })];
    this.choice.replaceChildren(...selectionFacts(facts, { n: this.n, colour: this.legend.name, title, label, keep,
      clear: () => this.choose(null), columns: this.hello.columns }));
    if (this.holds(this.map)) this.choice.append(make("div", { className: "deeds" },
      button("Pin on the map", () => this.pinning("pin", this.map), { title: "Hold these rows where they are when the map is relaxed" })));
  }

  async label(column, name) {
    try {
      const reply = await this.line.ask("label", { column, name });
      const told = { missing: 0, ...reply.column, label: true };
      this.columnsChanged([told, ...this.hello.columns.filter((one) => one.name !== told.name)]);
      await this.colourBy(told.name);
      this.table.show();
      this.say(name === null ? "the label was removed" : `${plural(this.selected, "row")} labelled ${name}`);
    } catch (error) { this.failed(error); }
  }

  async search(text) {
    if (!text) { this.choose(null); return; }
    const asked = (this.latest.search = {});
    try {
      const reply = await this.line.ask("search", { text, column: null });
      if (asked !== this.latest.search) return;
      if (!reply.count) { this.say(`no row contains “${text}”`); return; }
      this.choose(unpackedBits(reply.arrays.mask, this.n));
    } catch (error) { this.failed(error); }
  }

  placed(map) { return map.placed; }
  placedRows(map, words) { this.panes.remark(); this.panes.told(map); this.say(words); }

  // ---- Status, and what is saved --------------------------------------------------------------------------------

  sayStatus(map) {
    this.say(map.status === "failed" ? `${map.title} failed` : map.status === "waiting" ? `${map.title} waits for other fits` : `${map.title} is ${map.status}`);
  }

  say(text) { if (this.status && this.status.textContent !== text) this.status.textContent = text; }

  failed(error) {
    if (this.status?.textContent.endsWith("…")) this.say(""); // what was under way has ended
    if (!this.notices) { this.root.replaceChildren(make("p", { className: "refused", role: "alert" }, error.message)); return; }
    this.notices.replaceChildren(make("p", { role: "alert" }, error.message), button("Close", () => this.notices.replaceChildren()));
  }

  state() {
    return { ...this.legend.state, panes: this.panes.state, selection: this.selection ? bytesToText(packedBits(this.selection)) : null,
      pinned: this.pinned, theme: this.root.dataset.theme ?? null, maps: [...this.maps.values()].map(stateOfMap) };
  }
}

// What a saved page keeps of a map besides its positions: the overlays that were looked at, and the rows of files.
function stateOfMap({ id, overlay, shares, placed }) {
  return { map: id, overlay: overlay?.kind ?? null,
    shares: shares ? eachOf(shares, textOfShares) : null,
    placed: placed.map((one) => ({ name: one.name, positions: textOfFloats(one.positions), trust: textOfFloats(one.trust) })) };
}
function mapOfState({ shares, placed }) {
  return { shares: shares ? eachOf(shares, sharesOfText) : null,
    placed: placed.map((one) => ({ name: one.name, positions: floatsOfText(one.positions), trust: floatsOfText(one.trust) })) };
}

function textOfFloats(values) { return bytesToText(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)); }
function floatsOfText(text) { return new Float32Array(textToBytes(text).buffer); }

// Shares from 0 to 1 in one byte each, 255 for none.
function eachOf(shares, change) { return Object.fromEntries(Object.entries(shares).map(([kind, values]) => [kind, change(values)])); }
function textOfShares(shares) {
  return bytesToText(Uint8Array.from(shares, (v) => (Number.isFinite(v) ? Math.round(254 * Math.min(1, Math.max(0, v))) : 255)));
}
function sharesOfText(text) { return Float32Array.from(textToBytes(text), (byte) => (byte === 255 ? NaN : byte / 254)); }

// One byte per row, from bytes or from bits.
function unpackedPresence(present, n) { return present.length === n ? present : unpackedBits(present, n); }
