// Parts shared by the maps: the row marked in all, the legend, the theme, the order of the table.
// Follows the renderer and maps.js in one script.

// ---- One row, marked in all maps --------------------------------------------------------------------------------

const maps = [...document.querySelectorAll(".map")].map((root, i) => new Place(root, data.methods[i]));

function point(map, i) {
  if (i !== state.hover) {
    state.hover = i;
    for (const one of maps) one.mark();
    say(i < 0 ? "" : describe(i).join(", "));
  }
  show(i < 0 ? null : map);
}

function clear() {
  state.pinned = false;
  state.brushed = null;
  state.hover = -1;
  show(null);
  say("");
  redraw();
}

function say(text) { if (statusLine.textContent !== text) statusLine.textContent = text; }

function nameOf(code) {
  if (code === 65535) return "no label";
  return code < labels.names.length ? labels.names[code] : "another";
}

function describe(i) {
  const words = [`row ${((rows ? rows[i] : i) + 1).toLocaleString("en")}`];
  if (data.ids) words.push(data.ids[i]);
  if (codes) words.push(`${labels.title || "class"} ${nameOf(codes[i])}`);
  if (values) {
    const value = labels.low + (values[i] / 254) * (labels.high - labels.low);
    words.push(values[i] === 255 ? "no value" : `${labels.title || "value"} ${value.toPrecision(3)}`);
  }
  return words;
}

const pictured = data.pictures && data.pictures.rows !== null
  ? new Map(Array.from(unpack(data.pictures.rows, Int32Array), (row, i) => [row, i])) : null;
const sheet = data.pictures ? Object.assign(new Image(), { src: data.pictures.src }) : null;

function show(map) {
  if (!map) { tip.hidden = true; return; }
  const i = state.hover, words = describe(i);
  tip.replaceChildren();
  if (sheet && sheet.complete && (!pictured || pictured.has(i))) tip.append(picture(pictured ? pictured.get(i) : i));
  const side = document.createElement("span");
  const strong = document.createElement("b");
  strong.textContent = words.length > 1 ? words[words.length - 1] : words[0];
  side.append(strong, words.slice(0, -1).join(", "));
  if (map.doubts[i] === DUBIOUS) side.append(document.createElement("br"), "dubious place here");
  if (map.misplaced[i] !== 255) side.append(document.createElement("br"), misplacement(map.misplaced[i]));
  tip.append(side);
  tip.hidden = false;
  const box = map.root.getBoundingClientRect();
  const x = box.left + map.x(i), y = box.top + map.y(i);
  const right = x + 18 + tip.offsetWidth < document.documentElement.clientWidth;
  tip.style.left = `${Math.max(4, right ? x + 18 : x - 18 - tip.offsetWidth)}px`;
  tip.style.top = `${Math.max(4, Math.min(y - tip.offsetHeight / 2, window.innerHeight - tip.offsetHeight - 4))}px`;
}

function misplacement(byte) {
  return `${byte === 254 ? "≥ " : ""}${Math.round((100 * data.misplaced * byte) / 254)} % misplaced here`;
}

function picture(i) {
  const { height, width, columns } = data.pictures;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.style.height = "64px";
  canvas.style.width = `${(64 * width) / height}px`;
  const left = (i % columns) * width, top = Math.floor(i / columns) * height;
  canvas.getContext("2d").drawImage(sheet, left, top, width, height, 0, 0, width, height);
  return canvas;
}

// ---- Legend, colouring, theme, and the order of the table -------------------------------------------------------

function drawLegend() {
  const legend = document.getElementById("legend");
  legend.replaceChildren();
  if (state.colouring === "misplaced") return legend.append(...scale("kept in place", ink.heat, "misplaced"));
  if (state.colouring === "dubious") return legend.append(...scale("place to be believed", ink.heat, "dubious"), filtering());
  if (values) {
    const [low, high] = [labels.low, labels.high].map((value) => value.toPrecision(3));
    return legend.append(...scale(low, ink.labels, `${high} ${labels.title}`));
  }
  if (!codes) return undefined;
  labels.names.forEach((name, code) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(state.classes.has(code)));
    button.innerHTML = code < 10 ? '<svg viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5"/></svg>'
      : '<svg viewBox="0 0 12 12" aria-hidden="true"><path d="M6 0 L12 11 L0 11 Z"/></svg>';
    button.firstChild.style.fill = css(ink.labels, code);
    button.append(name);
    button.addEventListener("click", () => {
      if (!state.classes.delete(code)) state.classes.add(code);
      button.setAttribute("aria-pressed", String(state.classes.has(code)));
      readColours();
      redraw();
    });
    legend.append(button);
  });
  const rest = labels.hidden ? [`and ${labels.hidden} more, in dark grey`] : [];
  if (codes.includes(65535)) rest.push("no label, in light grey");
  legend.append(rest.join("; "));
  return undefined;
}

function scale(low, shades, high) {
  const bar = document.createElement("span");
  bar.className = "ramp";
  const stops = Array.from({ length: 9 }, (_, i) => css(shades, Math.round((i * (STEPS - 1)) / 8)));
  bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  return [low, bar, high];
}

function drawColouring() {
  const field = document.getElementById("colouring");
  const first = labels ? { labels: labels.title || "label" } : { none: "nothing" };
  const ways = { ...first, misplaced: "what is misplaced" };
  if (data.methods.some((one) => one.doubts !== null)) ways.dubious = "where not to believe it";
  for (const [way, words] of Object.entries(ways)) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: words });
    button.setAttribute("aria-pressed", String(state.colouring === way));
    button.addEventListener("click", () => {
      state.colouring = way;
      state.classes.clear();
      readColours();
      for (const other of field.querySelectorAll("button:not(#names)"))
        other.setAttribute("aria-pressed", String(other === button));
      drawLegend();
      redraw();
    });
    field.append(button);
  }
  if (maps.some((map) => map.islands.length)) field.append(naming());
}

// A button that leaves only the dubious rows of each map.
function filtering() {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Dubious rows alone", id: "filter" });
  button.setAttribute("aria-pressed", String(state.filtered));
  button.addEventListener("click", () => {
    state.filtered = !state.filtered;
    button.setAttribute("aria-pressed", String(state.filtered));
    redraw();
    say(state.filtered ? `Dubious rows: ${maps.map((map) => `${map.dubious.toLocaleString("en")} in ${map.name}`).join(", ")}.` : "");
  });
  return button;
}

// A button that writes names on the maps.
function naming() {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Names", id: "names" });
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    state.named = !state.named;
    button.setAttribute("aria-pressed", String(state.named));
    for (const map of maps) map.mark();
  });
  return button;
}

function redraw() {
  for (const map of maps) { map.draw(); map.mark(); }
}
function repaint() { readColours(); drawLegend(); redraw(); }

const night = window.matchMedia("(prefers-color-scheme: dark)");
const theme = document.getElementById("theme");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : night.matches;
}

function nameTheme() {
  theme.textContent = isDark() ? "Light" : "Dark"; // the theme that a press selects
}

theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
  repaint();
});
night.addEventListener("change", () => { nameTheme(); repaint(); });

for (const button of document.querySelectorAll("#measures thead button"))
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => Number(row.children[head.cellIndex].dataset.value ?? NaN);
    const sorted = [...body.rows].sort((a, b) => {
      const [u, v] = [value(a), value(b)];
      if (Number.isNaN(u) || Number.isNaN(v)) return Number.isNaN(u) - Number.isNaN(v);
      return down ? v - u : u - v;
    });
    body.append(...sorted);
  });

readColours();
if (painter) painter.onrestored = redraw;
nameTheme();
drawColouring();
drawLegend();
new ResizeObserver(() => { for (const map of maps) map.resize(); }).observe(document.querySelector(".gallery"));
document.addEventListener("scroll", () => { if (!tip.hidden && !state.pinned) tip.hidden = true; }, { passive: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });
