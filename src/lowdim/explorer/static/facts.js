// Facts of the pinned row and of the selection: neighbours, counts, distinguishing columns.
import { make, button, cutName, grouped, plural, digits } from "./dom.js";

const CELLS = 60; // columns of the pinned row
const BARS = 8; // classes of a column shown
const TELLING = 6; // columns that distinguish the selection

const bar = (share, kind = "") => {
  const inner = make("span", { className: kind });
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return make("span", { className: "bar", "aria-hidden": "true" }, inner);
};

// `row` {row, columns, cells}, `links` {index, distance, kept: {map: bytes}}, `maps` shown, `picture(row)` a canvas or null.
export function rowFacts({ row, columns, cells, links, maps, picture, hold, free, moves }) {
  const parts = [make("div", { className: "heading" }, make("h2", {}, `Row ${grouped(row + 1)}`), button("Unpin", free))];
  const image = picture(row);
  if (image) parts.push(make("div", { className: "portrait" }, image));
  if (cells) {
    const pairs = columns.slice(0, CELLS).flatMap((name, i) => [make("dt", {}, name), make("dd", {}, cells[i])]);
    parts.push(make("dl", { className: "cells" }, ...pairs));
  }
  for (const map of maps) if (moves?.[map.id]?.length) parts.push(...movesOn(map, moves[map.id]));
  if (links) {
    parts.push(make("h3", {}, `${links.index.length} nearest in the data`));
    parts.push(make("ul", { className: "near" }, ...Array.from(links.index, (other, i) => {
      const torn = maps.filter((map) => links.kept[map.id] && !links.kept[map.id][i]);
      const words = torn.length === 0 ? "kept" : torn.length === maps.length ? "not near" : `not near in ${torn.map((map) => map.title).join(", ")}`;
      return make("li", {}, button("", () => hold(other), { className: "row" }),
        make("small", { className: torn.length ? "torn" : "kept" }, words), make("small", {}, digits(links.distance[i])));
    })));
    parts[parts.length - 1].querySelectorAll("button").forEach((one, i) => {
      const small = picture(links.index[i]);
      if (small) one.append(small);
      one.append(`row ${grouped(links.index[i] + 1)}`);
    });
    parts.push(make("p", { className: "note" }, "Solid lines: neighbours that are near on the map as well. Dashed lines: neighbours that are not."));
  }
  return parts;
}

// Columns that move the row on a map, with the way it would go: arrows of two dimensions point as on the map.
function movesOn({ title, dims }, columns) {
  const most = columns[0].share;
  return [make("h3", {}, `What moves it on ${title}`), make("ul", { className: "counts telling moves" },
    ...columns.slice(0, BARS).map(({ column, share, value, mean, toward }) => {
      const way = make("span", { className: "way", "aria-hidden": "true" }, dims === 2 ? "→" : "");
      if (dims === 2) way.style.rotate = `${-Math.atan2(toward[1], toward[0])}rad`;
      return make("li", {}, cutName(column), bar(share / most), make("small", {}, `${digits(value)} (mean ${digits(mean)}) `, way));
    })), make("p", { className: "note" }, "One standard deviation more of a column moves the row along its arrow; bars compare how far. This describes the map, not causes.")];
}

// `facts` is the reply to `select`.
export function selectionFacts(facts, { title, n, colour, clear, label, keep, columns }) {
  const share = (100 * facts.count) / n, told = share < 0.1 ? "< 0.1" : share.toFixed(share < 10 ? 1 : 0);
  const parts = [make("div", { className: "heading" },
    make("h2", {}, plural(facts.count, "row")), make("small", {}, `${told} %`), button("Clear", clear))];
  if (facts.sentence) parts.push(make("p", { className: "note" }, facts.sentence));
  const groups = Map.groupBy ? Map.groupBy(facts.counts ?? [], (one) => one.column) : grouping(facts.counts ?? []);
  const order = [...groups.keys()].sort((a, b) => (b === colour) - (a === colour));
  for (const column of order.slice(0, 3)) {
    const counts = [...groups.get(column)].sort((a, b) => b.count - a.count);
    parts.push(make("h3", {}, column), make("ul", { className: "counts" }, ...counts.slice(0, BARS).map((one) =>
      make("li", {}, cutName(one.category), bar(one.count / facts.count),
        make("small", {}, `${grouped(one.count)} of ${grouped(one.of)}`)))));
    if (counts.length > BARS) parts.push(make("p", { className: "note" }, `and ${counts.length - BARS} more`));
  }
  if (facts.telling?.length) {
    parts.push(make("h3", {}, "Columns that distinguish them"), make("ul", { className: "counts telling" },
      ...facts.telling.slice(0, TELLING).map((one) => make("li", {}, cutName(one.column),
        bar(one.score), make("small", {}, `${valueText(one.inside)} against ${valueText(one.outside)}`)))));
  }
  if (facts.telling?.length) parts.push(make("p", { className: "note" }, "The rows were selected by looking: these differences describe them, and prove nothing."));
  if (facts.quality?.length) {
    const measures = Object.keys(facts.quality[0]).filter((name) => !["map", "rows", "of"].includes(name) && typeof facts.quality[0][name] === "number");
    parts.push(make("h3", {}, "Quality of each map for them"), make("div", { className: "wide" }, make("table", { className: "quality" },
      make("thead", {}, make("tr", {}, make("th", {}, ""), ...facts.quality.map((one) => make("th", { scope: "col" }, title(one.map))))),
      make("tbody", {}, ...measures.map((name) => make("tr", {}, make("th", { scope: "row" }, name.replaceAll("_", " ")),
        ...facts.quality.map((one) => make("td", {}, one[name] === null ? "–" : Number(one[name]).toFixed(3)))))))));
  }
  if (label) parts.push(labelling(columns, label));
  parts.push(make("div", { className: "deeds" }, ...keep));
  return parts;
}

function valueText(value) { return typeof value === "number" ? digits(value) : String(value ?? "–"); }

function grouping(counts) {
  const groups = new Map();
  for (const one of counts) groups.set(one.column, [...(groups.get(one.column) ?? []), one]);
  return groups;
}

// A name given to the selection; names are kept in a column of their own.
function labelling(columns, label) {
  const own = columns.filter((one) => one.label).map((one) => one.name), taken = columns.map((one) => one.name);
  const usual = own[0] ?? ["label", "my label", "my own label"].find((one) => !taken.includes(one)) ?? "";
  const column = make("input", { type: "text", value: usual, "aria-label": "Column of the label", required: true, maxLength: 80 });
  const name = make("input", { type: "text", placeholder: "name these rows", "aria-label": "Label", required: true, maxLength: 200 });
  const known = make("datalist", { id: "lowdim-columns" }, ...own.map((one) => make("option", { value: one })));
  column.setAttribute("list", "lowdim-columns");
  return make("form", { className: "labelling", onsubmit: (event) => { event.preventDefault(); label(column.value, name.value); } },
    make("h3", {}, "Label"), make("div", { className: "line" }, column, name, make("button", { type: "submit" }, "Label")),
    own.length ? button("Remove the label", () => label(column.value, null)) : null, known);
}
