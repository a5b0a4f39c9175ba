// Files that are read (rows to be placed) and written (selections, labels, models, images, the page itself).
import { make, button, download, grouped, plural } from "./dom.js";

export const DOUBTFUL = 0.02; // trust below that of 98 % of ordinary rows
const FORMATS = { csv: "csv", tsv: "csv", txt: "csv", parquet: "parquet", pq: "parquet", npy: "npy" };

// Files dropped anywhere on the page are placed on the current map.
export function acceptDrops(root, host) {
  const veil = root.appendChild(make("div", { className: "veil", hidden: true }, make("p", {}, "Drop a file of new rows to place them on the map")));
  const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  root.addEventListener("dragover", (event) => { if (carries(event)) { event.preventDefault(); veil.hidden = false; } });
  root.addEventListener("dragleave", (event) => { if (!root.contains(event.relatedTarget)) veil.hidden = true; });
  root.addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!carries(event)) return;
    event.preventDefault();
    for (const file of event.dataTransfer.files) placeFile(file, host);
  });
}

export async function placeFile(file, host) {
  const ending = file.name.split(".").pop().toLowerCase(), format = FORMATS[ending];
  const limit = host.hello.limits?.upload_bytes ?? 64 << 20;
  try {
    if (!format || (host.saved && format !== "csv")) throw new Error(`${file.name}: a ${host.saved ? "csv" : "csv, parquet or npy"} file is needed; got .${ending}.`);
    const [most, has] = [limit, file.size].map((bytes) => Math.round(bytes / 1e6));
    if (file.size > limit) throw new Error(`${file.name}: files up to ${most} MB are accepted; this one has ${has} MB.`);
    if (!host.map?.cloud.count) throw new Error("There is no map to place rows on yet.");
    const { map } = host;
    host.say(`placing ${file.name} …`);
    const reply = await host.line.ask("place", { name: file.name, format, map: map.id }, { bytes: new Uint8Array(await file.arrayBuffer()) });
    map.placed.push({ name: file.name, positions: reply.arrays.positions, trust: reply.arrays.trust });
    const doubtful = reply.arrays.trust.reduce((sum, one) => sum + (one < DOUBTFUL), 0);
    host.placedRows(map, `${plural(reply.count, "row")} of ${file.name} placed${doubtful ? `, ${grouped(doubtful)} of them far from the data or between parts of the map` : ""}`);
  } catch (error) {
    host.say(`${file.name} was not placed`);
    host.failed(error);
  }
}

// A button for files of new rows, for those who cannot drop one.
export function placing(host) {
  const input = make("input", { type: "file", accept: host.saved ? ".csv,.tsv,.txt" : ".csv,.tsv,.parquet,.npy", multiple: true, hidden: true, onchange: () => {
    for (const file of input.files) placeFile(file, host);
    input.value = "";
  } });
  return make("span", {}, button("Place rows …", () => input.click(), { title: `Place the rows of a ${host.saved ? "csv" : "csv, parquet or npy"} file on the map` }), input);
}

// The menu of exports. `host.saved`: there is no Python, so only what the page itself can write.
export function exportMenu(host) {
  const menu = make("details", { className: "menu" }), close = () => { menu.open = false; };
  const ask = (what, format) => async () => {
    close();
    try {
      const reply = await host.line.ask("export", { what, format, map: host.map?.id ?? null, view: host.state() });
      download(reply.arrays.bytes, reply.filename, reply.mime);
      host.say(`${reply.filename} was written`);
    } catch (error) { host.failed(error); }
  };
  const picture = async () => { close(); download(await viewPicture(host.active, host), "map.png", "image/png"); };
  const entries = [["Image of the map (PNG)", picture]];
  if (!host.saved) entries.push(
    ["Image of the map (SVG)", ask("picture", "svg")],
    ["Selection (CSV)", ask("selection", "csv")], ["Selection (Parquet)", ask("selection", "parquet")],
    ["Labels (CSV)", ask("labels", "csv")], ["Labels (Parquet)", ask("labels", "parquet")],
    ["All rows with their positions (CSV)", ask("rows", "csv")], ["Model (.lowdim)", ask("model", "lowdim")],
    ["This page (HTML)", ask("page", "html")]);
  if (host.saved && host.computes) entries.push(["All rows with their positions (CSV)", ask("rows", "csv")]);
  if (host.saved) entries.push(["Selection (CSV)", () => { close(); download(selectedText(host), "selection.csv", "text/csv"); }]);
  menu.append(make("summary", {}, "Export"), make("div", { className: "sheet" }, ...entries.map(([words, deed]) => button(words, deed))));
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); menu.firstChild.focus(); event.stopPropagation(); } });
  host.root.addEventListener("pointerdown", (event) => { if (!menu.contains(event.target)) close(); });
  return menu;
}

// The view as it is shown, as an image.
export function viewPicture(view, host) {
  view.refresh(true);
  const canvas = Object.assign(document.createElement("canvas"), { width: view.base.width, height: view.base.height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = host.colours.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(view.base, 0, 0);
  pen.drawImage(view.over, 0, 0);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

// Rows of the selection with the columns that the page holds; for pages without Python.
function selectedText(host) {
  const names = [...host.columns.keys()], quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["row", ...names].map(quoted).join(",")];
  for (let i = 0; i < host.n; i++) {
    if (host.selection && !host.selection[i]) continue;
    lines.push([String(i), ...names.map((name) => cellText(host.columns.get(name), i))].map(quoted).join(","));
  }
  return `${lines.join("\n")}\n`;
}

export function cellText(column, row) {
  if (!column.codes) return Number.isFinite(column.values[row]) ? String(Number(column.values[row].toPrecision(7))) : "";
  return column.categories[column.codes[row]] ?? "";
}
