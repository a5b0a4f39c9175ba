// The page "Try it": a table of the reader's own, read and mapped in the page; nothing is sent anywhere.
import { Explorer } from "./explorer.js";
import { localChannel } from "./local.js";
import { engineOfPage, readerOf, scoresOfFeatures, slidesFor } from "./computing.js";
import { refusal, unpacked } from "./engine.js";
import { make, button, grouped, plural, lasting } from "./dom.js";

const LEAST_ROWS = 4, MOST_ROWS = 50_000, SLOW_ROWS = 10_000, MOST_BYTES = 250e6;
const WIDE = 100, AXES = 50; // features above which a map is made of principal scores, of so many

const textOf = (id) => document.getElementById(id).textContent;

class TryIt {
  constructor(root) {
    this.root = root;
    this.settings = JSON.parse(textOf("settings"));
    this.welcome();
    root.addEventListener("dragover", (event) => { if (!this.explorer) event.preventDefault(); });
    root.addEventListener("drop", (event) => {
      if (this.explorer || !event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
  }

  welcome(message = "") {
    const { root, settings } = this, why = refusal();
    this.status = make("p", { className: message ? "refused" : "told", role: message ? "alert" : "status", "aria-live": "polite" }, message);
    const input = make("input", { type: "file", accept: ".csv,.tsv,.txt,.data", hidden: true, onchange: () => { if (input.files.length) this.open(input.files[0]); } });
    root.className = "lowdim welcome";
    root.replaceChildren(make("main", {},
      make("p", { className: "brand" }, "lowdim ", make("span", {}, "try it")),
      make("h1", {}, "A map of your own table, made in this page"),
      make("p", { className: "lead" }, "Choose a csv file: each row becomes a point, and rows that are alike come to lie side by side. ",
        make("b", {}, "Nothing leaves this page."), " It has no address to send anything to, and works without a network."),
      why ? make("p", { className: "refused", role: "alert" }, why) : make("div", { className: "drop" },
        make("p", {}, "Drop a csv file here"), button("Choose a file …", () => input.click(), { className: "main" }), input,
        make("p", { className: "note" }, `Rows are samples, columns are what is known of them. Up to ${grouped(MOST_ROWS)} rows; text, dates and gaps are handled, and you are told how.`)),
      why ? "" : make("p", { className: "examples" }, "Or try ", ...settings.examples.flatMap(({ name, words }, i) =>
        [i ? ", " : "", button(words, () => this.example(name))]), "."),
      this.status,
      make("p", { className: "note" }, "The same methods in Python, for tables of any size: ", make("code", {}, "pip install lowdim"), `. This page is of lowdim ${settings.version}.`)));
  }

  newEngine() { return engineOfPage(); }

  // What the page does before there is a map, with a button that ends it.
  say(words) {
    this.status.className = "told";
    this.status.replaceChildren(`${words} `, button("Stop", () => this.halt()));
  }

  async example(name) {
    this.say("unpacking …");
    const all = JSON.parse(new TextDecoder().decode(await unpacked(textOf("examples"))));
    await this.open(new File([all[name]], `${name}.csv`, { type: "text/csv" }));
  }

  halt() {
    this.opening = this.showing = null;
    this.reader?.end();
    this.engine?.close();
    this.explorer = null;
    this.welcome("Stopped.");
  }

  async open(file) {
    const mine = (this.opening = {});
    this.say(`reading ${file.name} …`);
    try {
      if (file.size > MOST_BYTES) throw new Error(`This page reads files of up to ${MOST_BYTES / 1e6} MB; ${file.name} has ${Math.round(file.size / 1e6)} MB. Use fewer rows or columns, or lowdim in Python.`);
      if (/\.(xlsx?|ods|parquet|zip|gz|npy|h5ad)$/i.test(file.name)) throw new Error(`This page reads text, such as csv files; ${file.name} is of another kind. Save it as csv, or use lowdim in Python.`);
      this.file = file;
      this.reader?.end();
      this.reader = readerOf(this.settings.rules);
      const table = await this.reader.ask({ file, name: file.name, most: MOST_ROWS, least: LEAST_ROWS });
      if (this.opening === mine) await this.show(table);
    } catch (error) {
      if (this.opening !== mine) return; // it was stopped, or another file was chosen meanwhile
      this.explorer = null;
      this.engine?.stop();
      this.welcome(error.message);
    }
  }

  // The table as the reader has prepared it.
  async show(table) {
    const { n, d, features } = table, { settings } = this, mine = (this.showing = {});
    this.engine?.end(new Error("Another table came."));
    this.engine = this.newEngine();
    this.engine.table(table.rows, n, d);
    this.say(`${plural(n, "row")} of ${plural(d, "feature")} …`);
    let width = d, project = null;
    if (d > WIDE) {
      width = Math.min(AXES, n - 1);
      const { scores, shares } = await this.engine.ask("scores", { k: width });
      const origin = new Float32Array(d), { axes } = await this.engine.ask("axes", { k: width });
      const { scores: least } = await this.engine.ask("scoresOf", { rows: origin, k: width });
      if (this.showing !== mine) return;
      project = (found) => { // scores less those of the origin
        const out = scoresOfFeatures(found, origin, axes, width);
        for (let i = 0; i < out.length; i++) out[i] += least[i % width];
        return out;
      };
      this.held = shares.reduce((sum, one) => sum + one, 0);
      this.engine.table(scores, n, width);
    }
    Object.assign(this, { told: table, width });
    const colour = table.aside[0] ?? table.columns.find((one) => one.kind === "category")?.name ?? null;
    const hello = { type: "hello", version: settings.version, title: this.file.name, n, columns: table.columns.map(({ name, kind, categories, missing }) =>
      ({ name, kind, categories: kind === "category" ? categories : null, missing, label: false })), colour, methods: settings.methods, maps: [], images: null,
    limits: { upload_bytes: 64 << 20 }, slides: slidesFor(n), pauses: this.engine.canPause, arrays: {} };
    const messages = [hello, ...table.columns.map((one) => ({ type: "column", name: one.name, kind: one.kind, categories: one.categories ?? null, missing: one.missing, arrays: one.arrays }))];
    const newRows = async (bytes, name) => { const found = await this.reader.ask({ place: bytes, name }); return project ? project(found) : found.rows; };
    const channel = (this.channel = localChannel(messages, { engine: this.engine, n, d: width, newRows }));
    const place = document.createElement("div");
    place.id = "explorer";
    place.className = "saved";
    this.explorer?.painter?.gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few
    this.root.className = "";
    this.root.replaceChildren(place);
    this.explorer = place.explorer = new Explorer(place, channel, { saved: { view: null }, computes: true });
    await this.explorer.ready;
    if (this.showing !== mine) return; // another table came meanwhile
    this.explorer.say("");
    this.facts(features);
    this.explorer.line.on("done", () => this.lines());
    this.explorer.line.on("status", () => this.lines());
    place.querySelector(".top .brand").replaceChildren("lowdim ", make("span", {}, "try it"));
    const { runs } = this.explorer;
    if (runs) await runs.run(null);
  }

  leave() {
    this.engine.end(new Error("Another file was chosen."));
    this.explorer?.painter?.gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.explorer = null;
    this.welcome();
  }

  // What was done with each column, and which are features: a box each.
  facts(features) {
    const { told, explorer } = this, left = told.plan.filter((one) => one.done === "left out");
    const boxes = told.plan.map((one) => {
      const box = make("input", { type: "checkbox", checked: !told.aside.includes(one.name) && one.done !== "left out", disabled: one.done === "left out" && !told.aside.includes(one.name) });
      box.addEventListener("change", () => { this.change(one.name, box.checked); });
      return make("li", {}, make("label", {}, box, " ", make("b", {}, one.name), ` ${one.kind}: ${one.done}${one.done === "left out" ? `, because ${one.why}` : ""}`));
    });
    this.code = make("pre", {});
    this.command = make("pre", {});
    const notes = [...told.notes];
    if (this.width < told.d) notes.push(`${plural(told.d, "feature")} reduced to ${this.width} principal scores, ${Math.round(100 * this.held)} % of the variance`);
    if (left.length) notes.push(`${plural(left.length, "column")} left out`);
    if (told.n > SLOW_ROWS) explorer.root.querySelector(".side").prepend(make("p", { className: "note slow" }, `${plural(told.n, "row")} take long in a page: about ${lasting(told.n / 2500)} for each map. Stop ends a run and keeps its last positions; lowdim in Python is faster.`));
    const section = make("section", { className: "table-facts", "aria-label": "The table" },
      make("div", { className: "heading" }, make("h2", {}, "The table"), button("Another file …", () => this.leave())), make("p", { className: "note" }, `${plural(told.n, "row")}, ${plural(told.plan.length, "column")}, ${plural(features.length, "feature")}${notes.length ? `; ${notes.join("; ")}` : ""}. Nothing of it leaves this page.`),
      make("details", {}, make("summary", {}, "What was done with each column"), make("ul", { className: "plan" }, ...boxes)),
      make("h3", {}, "The same in Python"), this.code, make("h3", {}, "and on the command line"), this.command);
    explorer.root.querySelector(".side .making").after(section);
    this.lines();
  }

  async change(name, used) {
    const aside = used ? this.told.aside.filter((one) => one !== name) : [...this.told.aside, name];
    try { await this.show(await this.reader.ask({ aside })); } catch (error) { this.explorer.failed(error); }
  }

  // The lines that make the current map.
  lines() {
    const map = this.explorer.map, { told, file, width } = this;
    if (!map || !this.code) return;
    const asked = Object.entries(map.parameters ?? {}), text = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));
    const named = told.aside, prepared = [`numbers=${JSON.stringify(told.how)}`];
    if (told.gapsIn || told.plan.some((one) => one.gaps && one.done !== "left out")) prepared.push('missing="mean"');
    if (told.plan.some((one) => ["mixed", "empty", "multi-select"].includes(one.kind) && one.done === "left out")) prepared.push('on_unusable="drop"');
    const read = [JSON.stringify(file.name), ...(named.length ? [`label=${text(named[0])}`] : []), ...(named.length > 1 ? [`drop=[${named.slice(1).map(text).join(", ")}]`] : []), 'missing="keep"', "mixed=True"];
    const wide = width < told.d, quoted = (words) => (/^[\w.-]+$/.test(words) ? words : `'${words}'`);
    this.code.textContent = ["import lowdim", "", `table = lowdim.data.read(${read.join(", ")})`,
      `X = lowdim.Prepare(${prepared.join(", ")}).fit_transform(table.X)`,
      ...(wide ? [`X = lowdim.PCA(${width}).fit_transform(X)`] : []),
      `Y = lowdim.${map.method === "pca" ? "PCA(2" : `${this.explorer.methods.find((one) => one.name === map.method).title}(${asked.map(([key, value]) => `${key}=${text(value)}`).concat(asked.some(([key]) => key === "random_state") ? [] : ["random_state=0"]).join(", ")}`}).fit_transform(X)`].join("\n");
    const flags = [...(named.length ? [`--label ${quoted(named[0])}`] : []), ...(named.length > 1 ? [`--drop ${quoted(named.slice(1).join(","))}`] : []),
      ...(prepared.includes('missing="mean"') ? ["--missing mean"] : []), ...(wide ? [`--first pca=${width}`] : []), `--method ${map.method}`,
      ...asked.map(([key, value]) => `--set ${key}=${value}`)];
    this.command.textContent = `lowdim reduce ${quoted(file.name)} ${flags.join(" ")} --plot map.png`;
  }
}

export function begin(root) { root.page = new TryIt(root); return root.page; }
