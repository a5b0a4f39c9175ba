// Maps of the report that are computed again in the page: a slider under each, and rows of a file placed on them.
// Follows maps.js and page.js in one script; `computing` holds the modules that pages of the explorer use too.

const compute = data.compute;
const refusedHere = compute ? computing.refusal() : null;
const slides = compute ? computing.slidesFor(n) : {};
const core = { engine: null, running: null };

function engineOfReport() {
  if (!core.engine) {
    core.engine = computing.engineOfPage();
    core.engine.table(computing.heldScores(compute, unpack(compute.scores, Uint16Array)), n, compute.k);
  }
  return core.engine;
}

// Computes the map again, with another number of neighbours, and shows it as it moves.
async function recompute(map, method, parameters, told, stop) {
  if (core.running) engineOfReport().stop();
  const mine = (core.running = {}), given = {};
  for (const [name, value] of Object.entries(parameters)) given[{ max_iter: "iterations", n_epochs: "iterations", random_state: "seed" }[name] ?? name] = value === "auto" ? 0 : value;
  stop.hidden = false;
  told.textContent = "neighbours …";
  map.placed = [];
  try {
    const found = await engineOfReport().ask("embed", { method, parameters: given }, (heard) => {
      if (!heard.frame) { told.textContent = `${computing.STAGES[heard.stage]} …`; return; }
      told.textContent = `${heard.done.toLocaleString("en")} of ${heard.total.toLocaleString("en")}`;
      map.move(heard.frame);
    });
    map.move(found.positions);
    map.exact = found.positions;
    const step = n <= 5000 ? 1 : n / 200, rowsJudged = Int32Array.from({ length: Math.floor(n / step) }, (_, i) => Math.floor(i * step));
    const kept = n > 10 ? await engineOfReport().ask("kept", { map: found.positions, k: 5, rows: rowsJudged }) : null;
    told.textContent = `computed here in ${found.seconds.toFixed(1)} s, loss ${Number(found.loss.toPrecision(4))}${kept ? `, trustworthiness ${kept.trustworthiness.toFixed(3)}, ${Math.round(100 * kept.recall)} % of neighbours kept` : ""}. The numbers below are of the map as it was saved.`;
  } catch (error) {
    told.textContent = error instanceof computing.Stopped ? "stopped: the last positions stay" : error.message;
  }
  if (core.running === mine) core.running = null;
  stop.hidden = true;
}

function offerSlider(map, { method, parameters }) {
  const slide = slides[method], figure = map.root.parentElement.querySelector("figcaption");
  const value = Number(parameters[slide.name]) || slide.usual;
  const told = Object.assign(document.createElement("p"), { className: "told" });
  told.setAttribute("role", "status");
  const stop = Object.assign(document.createElement("button"), { type: "button", textContent: "Stop", hidden: true });
  const input = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "100", step: "1", value: String(computing.stepOf(slide, value)) });
  const number = Object.assign(document.createElement("output"), { textContent: String(value) }), words = slide.name.replaceAll("_", " ");
  input.setAttribute("aria-label", `${words} of ${map.name}`);
  const label = document.createElement("label");
  label.className = "slide";
  label.append(`${words} `, number, input);
  input.addEventListener("input", () => { number.textContent = String(computing.valueAt(slide, Number(input.value))); });
  input.addEventListener("change", () => { recompute(map, method, { ...parameters, [slide.name]: computing.valueAt(slide, Number(input.value)) }, told, stop); map.given = { ...parameters, [slide.name]: computing.valueAt(slide, Number(input.value)) }; });
  stop.addEventListener("click", () => engineOfReport().stop());
  figure.prepend(label, told, stop);
  Object.assign(map, { method, given: parameters, told, clipped: data.methods[maps.indexOf(map)].beyond > 0 });
}

// Rows of a csv file, on every map that this page has computed or holds.
async function placeFile(file, say) {
  say(`placing ${file.name} …`);
  try {
    const found = await core.newRows(new Uint8Array(await file.arrayBuffer()), file.name), count = found.length / compute.k;
    for (const map of maps.filter((one) => one.method && (one.exact || !one.clipped))) {
      const given = {};
      for (const [name, value] of Object.entries(map.given)) given[{ random_state: "seed" }[name] ?? name] = value === "auto" ? 0 : value;
      const reply = await engineOfReport().ask("place", { method: map.method, parameters: given, map: map.positions, rows: found });
      map.placed = Array.from({ length: count }, (_, i) => ({ x: reply.positions[2 * i], y: reply.positions[2 * i + 1], trust: reply.trust[i] }));
      map.mark();
    }
    say(`${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"} of ${file.name} placed; hollow where a row is far from the data or between parts of the map`);
  } catch (error) { say(error.message); }
}

function offerPlacing() {
  const tools = document.querySelector(".tools"), input = Object.assign(document.createElement("input"), { type: "file", accept: ".csv,.tsv,.txt", hidden: true });
  const press = Object.assign(document.createElement("button"), { type: "button", id: "place", textContent: "Place rows of a csv file …" });
  press.addEventListener("click", () => input.click());
  input.addEventListener("change", () => { if (input.files.length) placeFile(input.files[0], say); input.value = ""; });
  const held = document.getElementById("maps");
  held.addEventListener("dragover", (event) => event.preventDefault());
  held.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) placeFile(event.dataTransfer.files[0], say); });
  core.newRows = computing.newScores({ fresh: compute.fresh, k: compute.k }, unpack(compute.axes, Float32Array));
  tools.insertBefore(press, statusLine);
}

if (compute && !refusedHere) {
  compute.methods.forEach((one, i) => { if (one) offerSlider(maps[i], one); });
  if (compute.fresh) offerPlacing();
}
