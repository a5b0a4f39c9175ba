// The column that colours the rows, and its legend; entries of the legend hide classes.
import { make, button, cutName, drawing, press, grouped, digits } from "./dom.js";
import { STEPS, categoryPalette, numberPalette, plainPalette, codeShades, scalesFor, valueShades } from "./colours.js";

const SHOWN = 40; // entries of a legend before a button for the others

export class Legend {
  // `host` has root, ink, column(name), painted() and say(text).
  constructor(place, host) {
    this.host = host;
    this.name = null;
    this.kept = new Set(); // classes that are shown; empty: all
    this.range = null;
    this.scales = new Map(); // of columns of numbers, where it is not linear
    this.all = false;
    this.choice = make("select", { "aria-label": "Colour by column", onchange: () => host.colourBy(this.choice.value || null) });
    this.list = make("div", { className: "legend", role: "group", "aria-label": "Legend: press a class to show it alone" });
    const groups = (host.groupings ?? []).map((method) => button(method === "hdbscan" ? "HDBSCAN" : "Leiden", () => host.group(method)));
    place.append(make("label", { className: "field" }, make("span", {}, "Colour by"), this.choice), this.list);
    if (groups.length) place.append(make("div", { className: "deeds" }, make("span", {}, "Find groups: "), ...groups));
  }

  offer(columns) {
    const shown = columns.filter((column) => column.kind !== "text");
    this.choice.replaceChildren(make("option", { value: "" }, "one colour"),
      ...shown.map((column) => make("option", { value: column.name }, column.name)));
    this.choice.value = this.name ?? "";
  }

  // `column` as `host.column` returns it, or null for one colour.
  show(name, column) {
    if (name !== this.name) { this.kept.clear(); this.range = null; this.all = false; }
    this.name = name;
    this.column = column;
    this.choice.value = name ?? "";
    const { ink } = this.host;
    if (!column) ink.setShades(null);
    else if (column.codes) {
      Object.assign(this, codeShades(column.codes, column.categories.length));
      ink.setShades(this.shades);
    } else {
      Object.assign(this, valueShades(column.values, { scale: this.scale }));
      ink.setShades(this.shades);
    }
    this.paint();
  }

  get scale() { return this.scales.get(this.name) ?? "linear"; }

  rescale(scale) {
    if (!this.column?.values || scale === this.scale) return;
    this.scales.set(this.name, scale);
    this.range = null;
    this.show(this.name, this.column);
  }

  get counted() { return this.column ? this.column.categories?.length ?? 0 : 0; }

  // Update the colours: another column, another theme, or other classes shown.
  paint() {
    const { root, ink } = this.host;
    const on = (i) => this.kept.size === 0 || this.kept.has(i);
    if (!this.column) ink.setPalette(plainPalette(root));
    else if (this.column.codes) ink.setPalette(categoryPalette(root, this.counted, on));
    else ink.setPalette(numberPalette(root, (i) => !this.range || (i < STEPS && i >= this.range[0] && i <= this.range[1])));
    this.list.replaceChildren(...this.entries());
    this.host.painted();
  }

  entries() {
    if (!this.column) return [];
    return this.column.codes ? this.classes() : this.ramp();
  }

  classes() {
    const order = Array.from({ length: this.counted }, (_, i) => i);
    if (this.counted > 20) order.sort((a, b) => this.counts[b] - this.counts[a] || a - b);
    const shown = this.all ? order : order.slice(0, SHOWN), made = shown.map((i) => this.entry(i, this.column.categories[i]));
    if (this.counts[this.counted]) made.push(this.entry(this.counted, "missing"));
    if (shown.length < order.length) made.push(button(`${grouped(order.length - shown.length)} more`, () => {
      this.all = true;
      this.paint();
    }, { className: "more" }));
    if (this.kept.size) made.push(button("Show all", () => { this.kept.clear(); this.paint(); }, { className: "more" }));
    return made;
  }

  entry(i, name) {
    const { palette } = this.host.ink, triangle = i >= 10 && i < 20 && i < this.counted;
    const sign = drawing("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" },
      triangle ? drawing("path", { d: "M6 0 L12 11 L0 11 Z" }) : drawing("circle", { cx: 6, cy: 6, r: 5 }));
    sign.style.fill = `rgb(${palette[4 * i]},${palette[4 * i + 1]},${palette[4 * i + 2]})`;
    const one = button("", () => {
      if (!this.kept.delete(i)) this.kept.add(i);
      this.paint();
      this.host.say(this.kept.size ? `${this.kept.size} of ${grouped(this.counted)} classes shown` : "all classes shown");
      this.list.querySelector(`[data-code="${i}"]`)?.focus();
    }, { title: name });
    one.dataset.code = String(i);
    one.append(sign, cutName(name), make("small", {}, grouped(this.counts[i])));
    return press(one, this.kept.has(i));
  }

  ramp() {
    const { palette } = this.host.ink, shades = [];
    for (let i = 0; i < STEPS; i += 18) shades.push(`rgb(${palette[4 * i]},${palette[4 * i + 1]},${palette[4 * i + 2]})`);
    const bar = make("div", { className: "ramp" });
    bar.style.background = `linear-gradient(to right, ${shades.join(",")})`;
    const { value } = this, ends = this.range ?? [0, STEPS - 1];
    const slide = (k, words) => {
      const input = make("input", { type: "range", min: 0, max: STEPS - 1, value: ends[k], "aria-label": words,
        "aria-valuetext": digits(value(ends[k])) });
      input.addEventListener("input", () => {
        const next = [...(this.range ?? [0, STEPS - 1])];
        next[k] = k ? Math.max(Number(input.value), next[0]) : Math.min(Number(input.value), next[1]);
        this.range = next[0] === 0 && next[1] === STEPS - 1 ? null : next;
        input.setAttribute("aria-valuetext", digits(value(next[k])));
        told.textContent = this.range ? `${digits(value(next[0]))} to ${digits(value(next[1]))}` : "";
        this.host.ink.setPalette(numberPalette(this.host.root, (i) => !this.range || (i < STEPS && i >= next[0] && i <= next[1])));
        this.host.painted();
      });
      return input;
    };
    const told = make("small", { className: "told" }, this.range ? `${digits(value(ends[0]))} to ${digits(value(ends[1]))}` : "");
    const scale = make("select", { "aria-label": "Scale of the colours", onchange: () => { this.rescale(scale.value); this.list.querySelector("select").focus(); } },
      ...scalesFor(this.column.values).map(([name, words]) => make("option", { value: name, selected: name === this.scale }, words)));
    return [make("div", { className: "scale" }, make("span", {}, digits(this.low)), bar, make("span", {}, digits(this.high))),
      make("div", { className: "slides" }, slide(0, "Show from"), slide(1, "Show up to")), told,
      make("label", { className: "field" }, make("span", {}, `Scale; half-way ${digits(value((STEPS - 1) / 2))}`), scale),
      this.column.missing ? make("small", {}, `${grouped(this.column.missing)} missing, in grey`) : ""];
  }

  // Text of the legend for a row.
  valueOf(row) {
    if (!this.column) return null;
    if (this.column.codes) return this.shades[row] === this.counted ? "missing" : this.column.categories[this.shades[row]];
    const value = this.column.values[row];
    return Number.isFinite(value) ? digits(value) : "missing";
  }

  get state() { return { colour: this.name, kept: [...this.kept], range: this.range, scale: this.scale }; }
}
