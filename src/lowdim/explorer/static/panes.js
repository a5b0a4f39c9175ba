// Up to four views side by side: which map each shows, its overlay, and the state of its fit.
import { View } from "./view.js";
import { make, button, press, inWords, grouped, lasting } from "./dom.js";

const MOST = 4;
const GLIDE = 0.8; // seconds from one map of a sequence to another
const OVERLAYS = [["", "no overlay"], ["false", "false neighbours"], ["missing", "missing neighbours"],
  ["score", "places to doubt"], ["moves", "unstable places"]];
const KEYS = { score: "more evidence against the place", moves: "more map neighbours change between samples" };

export class Panes {
  constructor(stage, host) {
    this.stage = stage;
    this.host = host;
    this.list = [];
    this.at = 0;
  }

  get active() { return this.list[this.at]; }
  get maps() { return [...new Set(this.list.map((pane) => pane.view.map).filter(Boolean))]; }

  // The requested number of views; new ones show the maps that are not visible yet.
  arrange(count) {
    const wanted = Math.min(MOST, Math.max(1, count));
    while (this.list.length > wanted) this.close(this.list[this.list.length - 1]);
    while (this.list.length < wanted) {
      const pane = this.build();
      this.list.push(pane);
      const unseen = [...this.host.maps.values()].reverse().find((map) => !this.maps.includes(map));
      const map = unseen ?? this.active?.view.map;
      if (map) this.show(this.list.length - 1, map);
    }
    this.stage.dataset.count = String(this.list.length);
    this.at = Math.min(this.at, this.list.length - 1);
    this.highlight();
    this.offer();
    this.host.arranged?.(this.list.length);
  }

  build() {
    const plot = make("div", { className: "plot", tabIndex: 0, role: "application", "aria-roledescription": "map", "aria-label": "Map, empty" });
    const pane = { plot, choice: make("select", { "aria-label": "Map in this view" }), overlay: make("select", { "aria-label": "Overlay" }),
      told: make("span", { className: "told" }), fault: make("p", { className: "fault", hidden: true }),
      key: make("div", { className: "key", hidden: true }) };
    pane.overlay.append(...OVERLAYS.map(([value, words]) => make("option", { value }, words)));
    pane.density = press(button("Density", () => {
      pane.view.density = !pane.view.dense;
      press(pane.density, pane.view.density);
      pane.view.refresh();
    }, { title: "Show the density of the rows" }), false);
    pane.names = press(button("Names", () => { if (pane.view.map) this.host.nameIslands(pane.view.map); },
      { title: "Name the islands of the map" }), false);
    pane.stability = button("Stability", () => { if (pane.view.map) this.host.misplaced(pane.view.map, "moves"); },
      { title: "Fit samples of the rows again, and show which places change" });
    pane.walk = make("input", { type: "range", min: 0, step: 1, "aria-label": "Map of the sequence" });
    pane.count = make("output", {});
    pane.walking = make("label", { className: "walk", hidden: true, title: "Move through the maps of the sequence" }, pane.walk, pane.count);
    pane.walk.addEventListener("input", () => this.glide(pane, this.host.sequence()[Number(pane.walk.value)]));
    pane.closing = button("×", () => this.close(pane), { className: "close", "aria-label": "Close this view" });
    pane.root = make("section", { className: "pane", "aria-label": "View" },
      make("header", {}, pane.choice, pane.overlay, pane.density, pane.names, pane.stability, pane.walking, pane.told, pane.closing), plot, pane.key, pane.fault);
    pane.choice.addEventListener("change", () => {
      const map = [...this.host.maps.values()].find((one) => String(one.id) === pane.choice.value);
      if (map) this.show(this.list.indexOf(pane), map);
    });
    pane.overlay.addEventListener("change", () => { if (pane.view.map) this.host.misplaced(pane.view.map, pane.overlay.value || null); });
    pane.root.addEventListener("pointerdown", () => this.focus(pane.view), true);
    pane.root.addEventListener("focusin", () => this.focus(pane.view));
    this.stage.append(pane.root);
    pane.view = new View(plot, this.host);
    pane.view.resize();
    return pane;
  }

  close(pane) {
    if (this.list.length < 2) return;
    pane.view.remove();
    pane.root.remove();
    this.list.splice(this.list.indexOf(pane), 1);
    this.arrange(this.list.length);
  }

  focus(view) {
    const at = this.list.findIndex((pane) => pane.view === view);
    if (at < 0 || at === this.at) return;
    this.at = at;
    this.highlight();
    this.host.looked();
  }

  highlight() { this.list.forEach((pane, i) => pane.root.classList.toggle("active", i === this.at && this.list.length > 1)); }

  show(i, map, state = null) {
    const pane = this.list[i];
    pane.view.show(map);
    if (state?.camera) pane.view.camera.state = state.camera;
    if (state) pane.view.density = state.density ?? null;
    this.offer();
    this.told(map);
    if (!this.host.painter) this.picture(map);
    this.host.looked();
  }

  // From the map of a view to another of its sequence: the rows of both move from place to place.
  glide(pane, map) {
    if (!map || map === pane.view.map) return;
    pane.view.glide(map, GLIDE);
    this.offer();
    this.told(map);
    if (!this.host.painter) this.picture(map);
    this.host.looked();
  }

  // The list of maps, in the menu of each view.
  offer() {
    for (const pane of this.list) {
      pane.choice.replaceChildren(...[...this.host.maps.values()].map((map) => make("option", { value: String(map.id) }, map.title)));
      pane.choice.value = pane.view.map ? String(pane.view.map.id) : "";
      pane.closing.hidden = this.list.length < 2;
      const row = this.host.sequence(), at = row.indexOf(pane.view.map);
      pane.walking.hidden = at < 0 || row.length < 2;
      pane.walk.max = String(row.length - 1);
      pane.walk.value = String(Math.max(0, at));
      pane.walk.setAttribute("aria-valuetext", pane.view.map?.title ?? "");
      pane.count.textContent = `${at + 1} of ${row.length}`;
    }
  }

  each(map, deed) { for (const pane of this.list) if (pane.view.map === map) deed(pane); }

  moved(map, seconds) {
    this.each(map, (pane) => pane.view.move(seconds));
    if (!this.host.painter) this.picture(map);
  }

  told(map) {
    const words = [];
    if (map.status === "running" || map.status === "paused") {
      words.push(map.status === "paused" ? "paused" : "running");
      if (map.iteration) words.push(map.total ? `${grouped(map.iteration)} of ${grouped(map.total)}` : grouped(map.iteration));
      if (map.left && map.status === "running") words.push(`${lasting(map.left)} left`);
      if (map.start && map.cloud.count) words.push("its start is shown");
    } else if (map.status !== "done") words.push(map.status);
    else if (map.seconds) words.push(lasting(map.seconds));
    if (map.placed.length) words.push(`${grouped(map.placed.reduce((sum, one) => sum + one.trust.length, 0))} placed`);
    this.each(map, (pane) => {
      pane.told.textContent = words.join(" · ");
      pane.told.title = inWords(map.parameters);
      pane.overlay.value = map.overlay?.kind ?? "";
      press(pane.density, pane.view.dense);
      press(pane.names, Boolean(map.names));
      pane.names.hidden = map.dims < 2 || !["done", "stopped"].includes(map.status) || map.local === true;
      const known = (kind) => map.shares?.[kind] || this.host.answers(map, kind);
      pane.overlay.hidden = !OVERLAYS.some(([kind]) => kind && known(kind));
      for (const option of pane.overlay.options) option.hidden = Boolean(option.value && !known(option.value));
      pane.key.hidden = !map.overlay;
      pane.stability.hidden = Boolean(this.host.saved) || map.status !== "done";
      if (map.overlay) pane.key.replaceChildren(...keyOf(map, this.host));
      pane.fault.hidden = map.status !== "failed";
      pane.fault.textContent = map.message ?? "The fit failed.";
      pane.plot.setAttribute("aria-label", `Map by ${map.title}, ${grouped(this.host.n)} rows. Arrow keys move from row to row, Enter pins one.`);
    });
  }

  gone(map) {
    const rest = [...this.host.maps.values()].pop();
    this.each(map, (pane) => { if (rest) this.show(this.list.indexOf(pane), rest); else pane.view.show(null); });
    this.offer();
  }

  // Without WebGL2: a message, and an image drawn by Python.
  async picture(map) {
    if (this.host.saved || !this.maps.includes(map) || !map.cloud.count) return;
    if (this.drawing) { this.next = map; return; }
    this.drawing = true;
    try {
      const { arrays, mime } = await this.host.line.ask("export", { what: "picture", format: "png", map: map.id, view: this.host.state() });
      const address = URL.createObjectURL(new Blob([arrays.bytes], { type: mime }));
      this.each(map, (pane) => pane.plot.replaceChildren(make("p", { className: "refused" },
        `${this.host.refusal} This image was drawn by Python; moving, pointing and selecting need a browser with WebGL2.`),
      make("img", { src: address, alt: `Map by ${map.title}` })));
    } catch (error) { this.host.failed(error); }
    this.drawing = false;
    const { next } = this;
    this.next = null;
    if (next) this.picture(next);
  }

  redraw() { for (const { view } of this.list) view.refresh(); }
  remark() { for (const { view } of this.list) if (view.width) view.mark(); }

  get state() {
    return this.list.map(({ view }) => {
      return { map: view.map?.id ?? null, camera: view.camera.state, density: view.density };
    });
  }
}

// The legend of an overlay; dubious rows can be selected from it.
function keyOf(map, host) {
  const kind = map.overlay.kind, words = KEYS[kind];
  const parts = words ? ["0", make("span", { className: "ramp" }), words]
    : ["0 %", make("span", { className: "ramp" }), `50 % of the neighbours are ${kind}`];
  const count = words && map.dubious ? map.dubious.reduce((sum, one) => sum + (one > 0), 0) : 0;
  if (count) parts.push(button(`Select ${grouped(count)} dubious`, () => host.choose(Uint8Array.from(map.dubious, (one) => (one > 0 ? 1 : 0)))));
  return parts;
}
