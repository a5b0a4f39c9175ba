// Computing maps: a form for each method from its parameter rules, and the progress of a fit.
import { make, button, drawing, digits, inWords, grouped, lasting } from "./dom.js";
import { stepOf, valueAt } from "./computing.js";

const FIRST = 4; // parameters shown; the others are collapsed
const BEFORE = ["perplexity", "n_neighbors", "min_dist", "kernel", "gamma", "alpha", "max_iter", "learning_rate", "early_exaggeration"];

export class Runs {
  // `host` has methods, line, map (the current one), selected, started(map, reply), failed(error).
  constructor(place, host) {
    this.host = host;
    this.choice = make("select", { "aria-label": "Method", onchange: () => this.offer() });
    this.summary = make("p", { className: "summary" });
    this.form = make("form", { onsubmit: (event) => { event.preventDefault(); this.run(null); } });
    this.live = make("div", { className: "live", hidden: true });
    place.append(this.live, make("label", { className: "field" }, make("span", {}, "Method"), this.choice), this.summary, this.form);
    this.choice.append(...host.methods.map((method) => make("option", { value: method.name }, method.title || method.name)));
    const usual = ["tsne", "umap", "pca"].find((name) => host.methods.some((method) => method.name === name));
    if (usual) this.choice.value = usual;
    this.offer();
  }

  get method() { return this.host.methods.find((method) => method.name === this.choice.value); }

  offer() {
    const { method } = this;
    if (!method) return;
    this.summary.replaceChildren(method.summary ?? "", method.unsuited ? make("em", {}, ` ${method.unsuited}`) : "", this.host.hello.computed_on ? ` ${this.host.hello.computed_on}` : "");
    this.inputs = new Map();
    const place = ({ name }) => (BEFORE.includes(name) ? BEFORE.indexOf(name) : BEFORE.length);
    const fields = [...(method.parameters ?? [])].sort((a, b) => place(a) - place(b)).map((rule) => this.field(rule));
    this.dims = make("select", {}, make("option", { value: "2" }, "2"), make("option", { value: "3" }, "3"));
    this.rows = make("select", {}, make("option", { value: "all" }, "all rows"), make("option", { value: "selection" }, "the selection"));
    const named = (words, input) => make("label", { className: "field" }, make("span", {}, words), input);
    const rest = fields.slice(FIRST);
    this.on = button("Continue from this map", () => this.run(this.host.map?.id ?? null), { title: "Start from the positions of the current map" });
    const planar = this.host.saved && method.name !== "pca"; // pages without Python compute maps of all rows in the plane
    this.form.replaceChildren(...fields.slice(0, FIRST), planar ? "" : named("dimensions", this.dims), this.host.saved ? "" : named("fit", this.rows),
      rest.length ? make("details", {}, make("summary", {}, `${rest.length} more`), ...rest) : "",
      make("div", { className: "deeds" }, make("button", { type: "submit", className: "main" }, "Run"), this.on));
    this.allow();
  }

  field(rule) {
    const { name, kind, low, high, choices, default: usual, help } = rule;
    let input;
    if (kind === "bool") input = make("input", { type: "checkbox", checked: Boolean(usual) });
    else if (kind === "choice") input = make("select", {}, ...(rule.optional ? [make("option", { value: "" }, "none")] : []), ...choices.map((value) =>
      make("option", { value: String(value), selected: value === usual }, String(value))));
    else if (kind !== "text" && choices?.length) { // a number or a word
      input = make("input", { type: "text", inputMode: "decimal", value: usual ?? "", placeholder: choices.join(" or ") });
    } else if (kind === "text") input = make("input", { type: "text", value: usual ?? "" });
    else {
      input = make("input", { type: "number", step: kind === "int" ? 1 : "any", value: usual ?? "", placeholder: rule.optional ? "none" : "" });
      if (low !== null && low !== undefined) input.min = low;
      if (high !== null && high !== undefined) input.max = high;
    }
    if (help) input.title = help;
    this.inputs.set(name, { rule, input });
    return make("label", { className: "field", title: help ?? "" }, make("span", {}, name.replaceAll("_", " ")), input);
  }

  // What the user changed; defaults are left to the method.
  get parameters() {
    const given = {};
    for (const [name, { rule, input }] of this.inputs ?? []) {
      const { kind, default: usual } = rule;
      const value = kind === "bool" ? input.checked : kind === "choice" ? rule.choices.find((one) => String(one) === input.value) ?? null
        : input.value === "" ? (rule.optional ? null : usual ?? null)
          : kind === "text" || rule.choices?.includes(input.value) ? input.value : Number(input.value);
      if (value !== (usual ?? null)) given[name] = value;
    }
    return given;
  }

  allow() {
    if (this.on) this.on.hidden = !this.method?.start || !this.host.map?.cloud.count;
    if (this.rows) this.rows.lastChild.disabled = !this.host.selected;
    if (this.rows && !this.host.selected) this.rows.value = "all";
  }

  async run(start) {
    const ask = { method: this.choice.value, parameters: this.parameters, dims: Number(this.dims.value), rows: this.rows.value, start };
    try { this.host.started(await this.host.line.ask("fit", ask), ask); } catch (error) { this.host.failed(error); }
  }

  // The number that shapes a map most, as a slider: the map is computed again in its place. `slide` has its name and ends.
  slider(map, slide) {
    const { name, usual } = slide, now = Number(map.parameters[name]) || usual;
    if (this.sliding?.map === map.id && this.sliding.name === name) { // stays while it is held
      if (!this.sliding.held) this.sliding.set(now);
      return this.sliding.part;
    }
    const words = make("output", {}), input = make("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": name.replaceAll("_", " ") });
    const sliding = { map: map.id, name, held: false, part: make("label", { className: "field slide" }, make("span", {}, name.replaceAll("_", " "), " ", words), input) };
    sliding.set = (value) => { input.value = String(stepOf(slide, value)); words.textContent = String(value); };
    input.addEventListener("input", () => { sliding.held = true; words.textContent = String(valueAt(slide, Number(input.value))); });
    input.addEventListener("change", async () => {
      sliding.held = false;
      const at = this.host.maps.get(sliding.map), ask = { method: at.method, parameters: { ...at.parameters, [name]: valueAt(slide, Number(input.value)) }, dims: at.dims, rows: "all", start: null, into: at.id };
      try { this.host.again(at, await this.host.line.ask("fit", ask)); } catch (error) { this.host.failed(error); }
    });
    sliding.set(now);
    this.sliding = sliding;
    return sliding.part;
  }

  // Progress of the current map: iteration, time left, the loss, and buttons to pause, stop and continue.
  tell(map) {
    this.allow();
    this.live.hidden = !map;
    if (this.live.hidden) return;
    const waiting = map.status === "waiting", running = waiting || map.status === "running" || map.status === "paused", deed = (type) => () =>
      this.host.line.ask(type, { map: map.id }).catch((error) => this.host.failed(error)); // its status is pushed
    const told = [];
    if (running) {
      const bar = make("progress", { "aria-label": "Progress", max: map.total || 1 });
      if (map.total) bar.value = map.iteration ?? 0;
      else if (map.share) bar.value = map.share;
      told.push(bar);
    }
    const words = [map.status === "failed" ? map.message || "The fit failed." : waiting ? "waits for other fits" : map.status];
    if (map.stage && running) words.push(map.stage);
    if (map.iteration) words.push(`${grouped(map.iteration)}${map.total ? ` of ${grouped(map.total)}` : ""}`);
    if (map.seconds) words.push(lasting(map.seconds));
    if (map.status === "running" && map.left) words.push(`${lasting(map.left)} left`);
    told.push(make("p", { className: map.status === "failed" ? "told bad" : "told" }, words.join(" · ")));
    told.push(make("p", { className: "note" }, inWords(map.parameters) || "default parameters"));
    if (map.pins?.length && this.host.holds(map)) {
      told.push(make("div", { className: "deeds" }, button("Relax", () => this.host.pinning("relax", map), { title: "Compute the map again around the pinned rows" }),
        button("Unpin", () => this.host.pinning("unpin", map), { title: "Let pinned rows go: those selected, or all" }),
        make("span", { className: "note" }, `${grouped(map.pins.length)} pinned`)));
    }
    if (map.quality?.trustworthiness !== undefined) told.push(make("p", { className: "note quality" }, qualityInWords(map.quality)));
    if (map.loss?.values.length > 1) told.push(lossCurve(map.loss));
    const slide = this.host.hello.slides?.[map.method];
    if (slide && this.host.methods.some((method) => method.name === map.method)) told.push(this.slider(map, slide));
    if (running) told.push(make("div", { className: "deeds" },
      waiting || this.host.hello.pauses === false ? null : map.status === "paused" ? button("Continue", deed("resume")) : button("Pause", deed("pause")), button("Stop", deed("stop"))));
    else if (this.host.maps.size > 1) told.push(make("div", { className: "deeds" }, button("Remove this map", () => this.host.drop(map))));
    const focus = [...this.live.querySelectorAll("button")].indexOf(document.activeElement);
    this.live.replaceChildren(...told);
    if (focus >= 0) this.live.querySelectorAll("button")[focus]?.focus();
  }
}

function qualityInWords({ trustworthiness, continuity, neighbors_kept: kept, rows, of }) {
  const share = (value) => value.toFixed(3);
  return `trustworthiness ${share(trustworthiness)}, continuity ${share(continuity)}, ${Math.round(100 * kept)} % of neighbours kept${rows < of ? ` (of ${grouped(rows)} rows)` : ""}`;
}

function lossCurve({ name, iterations, values }) {
  const [wide, high, pad] = [300, 84, 4], finite = values.filter(Number.isFinite);
  const [low, top] = [Math.min(...finite), Math.max(...finite)], last = iterations[iterations.length - 1], first = iterations[0];
  const x = (i) => pad + ((wide - 2 * pad) * (i - first)) / Math.max(last - first, 1);
  const y = (v) => pad + (high - 2 * pad) * (1 - (v - low) / (top - low || 1));
  const step = Math.max(1, Math.floor(values.length / 300));
  const path = values.map((v, i) => [v, i]).filter(([v, i]) => Number.isFinite(v) && (i % step === 0 || i === values.length - 1))
    .map(([v, i]) => `${x(iterations[i]).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
  const now = values[values.length - 1];
  const curve = drawing("svg", { class: "loss", viewBox: `0 0 ${wide} ${high}`, role: "img", preserveAspectRatio: "none" },
    drawing("title"), drawing("polyline", { points: path, "vector-effect": "non-scaling-stroke" }));
  curve.firstChild.textContent = `${name}: ${digits(now)} after ${grouped(last)} iterations, from ${digits(values[0])}`;
  return make("figure", {}, curve, make("figcaption", {}, `${name} ${digits(now)}`));
}
