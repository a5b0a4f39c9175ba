// The frame of the page: head, stage, side, rows, and the tip beside the pointer.
import { make, button, press, grouped, plural } from "./dom.js";
import { exportMenu, placing } from "./files.js";

const TOOLS = {
  move: ["Move", "m", "Drag to move or rotate, wheel to zoom, Shift and drag to select"],
  lasso: ["Lasso", "l", "Draw around rows; Shift adds, Alt removes"],
  box: ["Box", "b", "Select a rectangle; Shift adds, Alt removes"],
  drag: ["Drag", "g", "Drag the selected rows elsewhere: they are pinned there, and the map relaxes around them"],
};

export function layOut(host) {
  const { root, hello } = host;
  root.classList.add("lowdim");
  if (host.saved?.view?.theme) root.dataset.theme = host.saved.view.theme;
  const status = make("p", { className: "status", role: "status", "aria-live": "polite" });
  const notices = make("div", { className: "notices" });
  const stage = make("main", { className: "stage", "aria-label": "Maps" });
  const colour = make("section", { "aria-label": "Colour" });
  const making = make("section", { className: "making", "aria-label": "Compute a map", hidden: !host.computes });
  const about = make("section", { className: "about", hidden: true, "aria-label": "Row" });
  const choice = make("section", { className: "choice", hidden: true, "aria-label": "Selection" });
  const rows = make("section", { className: "rows", "aria-label": "Table" });
  root.replaceChildren(make("header", { className: "top" },
    make("span", { className: "brand" }, "lowdim ", make("span", {}, "explore")),
    make("h1", {}, hello.title || "data", make("small", {}, plural(host.n, "row"))),
    searching(host), tools(host), views(host), host.computes ? placing(host) : null, exportMenu(host), theme(host)),
  stage, make("aside", { className: "side", "aria-label": "Questions" }, notices, about, choice, colour, making,
    hello.computes_not ? make("p", { className: "note" }, `This page computes no maps: ${hello.computes_not}.`) : null, help()), rows, status);
  keys(host);
  return { status, notices, stage, colour, making, about, choice, rows, tip: new Tip(host) };
}

function searching(host) {
  let timer = 0;
  const input = make("input", { type: "search", placeholder: "Search rows", "aria-label": "Search rows", maxLength: 300 });
  const go = () => { clearTimeout(timer); host.search(input.value.trim()); };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(go, 300); });
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  host.searchField = input;
  return input;
}

function tools(host) {
  if (host.saved) delete TOOLS.drag;
  const made = Object.entries(TOOLS).map(([name, [words, letter, title]]) =>
    press(button(words, () => host.take(name), { title: `${title} (${letter})` }), name === host.tool));
  host.take = (name) => {
    host.tool = name;
    made.forEach((one, i) => press(one, Object.keys(TOOLS)[i] === name));
    host.root.dataset.tool = name;
  };
  host.root.dataset.tool = host.tool;
  return make("div", { className: "group", role: "group", "aria-label": "Tool" }, ...made);
}

function views(host) {
  const made = [1, 2, 4].map((count) => {
    const title = count === 1 ? "One view" : `${count} views side by side`;
    return press(button(String(count), () => host.panes.arrange(count), { title }), count === 1);
  });
  host.arranged = (count) => made.forEach((one, i) => press(one, [1, 2, 4][i] === count));
  return make("div", { className: "group", role: "group", "aria-label": "Views" }, ...made);
}

function theme(host) {
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (host.root.dataset.theme ? host.root.dataset.theme === "dark" : night.matches);
  const one = button("", () => { host.root.dataset.theme = dark() ? "light" : "dark"; turned(); }, { className: "theme" });
  const name = () => { one.textContent = dark() ? "Light" : "Dark"; };
  const turned = () => { name(); host.repaint(); };
  night.addEventListener("change", () => { if (host.panes) turned(); });
  name();
  return one;
}

function help() {
  const known = [["drag, wheel", "move or rotate, zoom"], ["Shift + drag", "select rows"], ["click", "pin a row, see its neighbours"],
    ["double click", "whole map again"], ["m l b g", "move, lasso, box, drag the selection"], ["/", "search"], ["arrows", "move from row to row"],
    ["Shift + arrows", "move or rotate"], ["+ − 0", "zoom, whole map"], ["Escape", "clear pin and selection"], ["drop a file", "place its rows on the map"]];
  return make("details", { className: "help" }, make("summary", {}, "Keys and pointer"),
    make("dl", {}, ...known.flatMap(([key, words]) => [make("dt", {}, key), make("dd", {}, words)])));
}

function keys(host) {
  host.root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (host.searchField.value) host.searchField.value = "";
      host.free();
      if (host.selection) host.choose(null);
      host.hovered(null, -1);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    const name = Object.keys(TOOLS).find((tool) => TOOLS[tool][1] === event.key);
    if (name) host.take(name);
    else if (event.key === "/") { host.searchField.focus(); event.preventDefault(); }
  });
}

class Tip {
  constructor(host) {
    this.host = host;
    this.box = host.root.appendChild(make("div", { className: "tip", hidden: true }));
  }

  point(view, row, x, y) {
    clearTimeout(this.timer);
    if (!view) { this.box.hidden = true; return; }
    if (this.row !== row || this.box.hidden) this.write(row);
    this.row = row;
    this.box.hidden = false;
    const plot = view.root.getBoundingClientRect(), frame = this.host.root.getBoundingClientRect();
    const [left, top] = [plot.left - frame.left + x, plot.top - frame.top + y], { offsetWidth: w, offsetHeight: h } = this.box;
    this.box.style.left = `${Math.max(4, left + 18 + w < frame.width ? left + 18 : left - 18 - w)}px`;
    this.box.style.top = `${Math.max(4, Math.min(top - h / 2, frame.height - h - 4))}px`;
    if (this.host.hello.images && !this.host.pictures.of(row)) this.timer = setTimeout(async () => {
      if (await this.host.pictures.want([row]) && this.row === row && !this.box.hidden) this.write(row);
    }, 40);
  }

  write(row) {
    const { legend } = this.host, value = legend.valueOf(row), image = this.host.pictures.of(row), map = this.host.map;
    const lines = make("span", {}, make("b", {}, value === null ? `row ${grouped(row + 1)}` : `${value}`));
    if (value !== null) lines.append(`row ${grouped(row + 1)} · ${legend.name}`);
    const wrong = map?.overlay?.values[row];
    if (map?.overlay?.dubious) { if (map.overlay.dubious[row] > 0) lines.append(make("br"), "dubious place"); }
    else if (wrong !== undefined && Number.isFinite(wrong)) lines.append(make("br"), `${Math.round(100 * wrong)} % ${map.overlay.kind} neighbours`);
    this.box.replaceChildren(...[image, lines].filter(Boolean));
  }
}
