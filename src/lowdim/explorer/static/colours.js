// Colours of the page, light and dark, and of the columns.

const VIRIDIS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
export const STEPS = 255; // of a ramp; the colour after the last is that of a missing value

// Bytes (r, g, b, a) of colours as CSS writes them, read where the variables of the page hold.
export function bytesOfColours(root, expressions) {
  const probe = root.appendChild(document.createElement("i"));
  probe.hidden = true;
  const high = Math.ceil(expressions.length / 256);
  const canvas = Object.assign(document.createElement("canvas"), { width: 256, height: high });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  expressions.forEach((expression, i) => {
    probe.style.color = expression;
    pen.fillStyle = getComputedStyle(probe).color;
    pen.fillRect(i % 256, Math.floor(i / 256), 1, 1);
  });
  probe.remove();
  return new Uint8Array(pen.getImageData(0, 0, 256, high).data.buffer).slice(0, 4 * expressions.length);
}

// Colours of what is drawn over and behind the points, in CSS; `rest` in four numbers, for the renderer.
export function pageColours(root) {
  const names = { paper: "--card", ink: "--ink", accent: "--accent", warn: "--warn", mark: "--mark", faint: "--rest" };
  const bytes = bytesOfColours(root, Object.values(names).map((name) => `var(${name})`));
  const words = (i) => `rgb(${bytes[4 * i]} ${bytes[4 * i + 1]} ${bytes[4 * i + 2]})`;
  const colours = Object.fromEntries(Object.keys(names).map((name, i) => [name, words(i)]));
  colours.rest = [...bytes.slice(-4, -1)].map((value) => value / 255).concat(0.35);
  colours.veil = colours.accent.replace(")", " / 0.12)");
  return colours;
}

function categoryColour(i) {
  if (i < 10) return `var(--c${i})`;
  if (i < 20) return `color-mix(in srgb, var(--c${i - 10}) 55%, var(--ink))`;
  return `oklch(${[0.62, 0.74, 0.52][i % 3]} 0.13 ${(i * 137.508) % 360})`;
}

// Palette of a column of categories (the last entry: missing) or of numbers; `seen` is what the legend shows.
export function categoryPalette(root, count, seen) {
  const bytes = bytesOfColours(root, [...Array.from({ length: count }, (_, i) => categoryColour(i)), "var(--none)"]);
  for (let i = 0; i <= count; i++) {
    const triangle = i >= 10 && i < 20 && i < count;
    bytes[4 * i + 3] = seen(i) ? (triangle ? 192 : 255) : triangle ? 64 : 0;
  }
  return bytes;
}

export function rampPalette(root, stops, seen = () => true) {
  const ends = bytesOfColours(root, [...stops, "var(--none)"]), bytes = new Uint8Array(4 * (STEPS + 1));
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = Math.round(ends[4 * k + c] + (at - k) * (ends[4 * k + 4 + c] - ends[4 * k + c]));
  }
  bytes.set(ends.slice(-4), 4 * STEPS);
  for (let i = 0; i <= STEPS; i++) bytes[4 * i + 3] = seen(i) ? 255 : 0;
  return bytes;
}

export function numberPalette(root, seen) { return rampPalette(root, VIRIDIS, seen); }
export function heatPalette(root) {
  return rampPalette(root, ["var(--line)", "var(--warn)", "light-dark(#5c1a00, #ffe1cf)"]);
}

export function plainPalette(root) {
  const bytes = bytesOfColours(root, ["var(--c0)"]);
  bytes[3] = 255;
  return bytes;
}

// Codes as they came (all ones: missing) to indices of the palette, and how many rows each has.
export function codeShades(codes, count) {
  const none = codes instanceof Uint8Array ? 255 : 65535;
  const shades = Uint16Array.from(codes, (code) => (code === none || code >= count ? count : code));
  const counts = new Uint32Array(count + 1);
  for (const shade of shades) counts[shade]++;
  return { shades, counts };
}

// How numbers become shares of a ramp: what maps them to a line, and back.
const SCALES = {
  linear: ["linear", (v) => v, (v) => v],
  log: ["logarithmic", Math.log, Math.exp],
  log1p: ["log(1 + x)", Math.log1p, Math.expm1],
  quantiles: ["quantiles"],
};

// Scales that suit the values, as [name, words]: logarithms of positive numbers, log(1 + x) where there are zeros.
export function scalesFor(values) {
  let least = Infinity;
  for (const v of values) if (v < least) least = v;
  const known = ["linear", ...(least > 0 ? ["log"] : least === 0 ? ["log1p"] : []), "quantiles"];
  return known.map((name) => [name, SCALES[name][0]]);
}

// Numbers to indices of a ramp; `value(i)` is the number of an index. With a few outliers, the ramp spans nearly all of
// the others; with quantiles each index has about as many rows.
export function valueShades(values, { range = null, scale = "linear" } = {}) {
  if (scale === "quantiles") return quantileShades(values);
  const [, onLine, back] = SCALES[scale], [low, high] = range ?? rangeOf(values), first = onLine(low), span = onLine(high) - first || 1;
  const shades = Uint16Array.from(values, (v) => (Number.isFinite(v)
    ? Math.round(Math.min(1, Math.max(0, (onLine(v) - first) / span)) * (STEPS - 1)) : STEPS));
  return { shades, low, high, value: (i) => (i <= 0 ? low : i >= STEPS - 1 ? high : back(first + (i / (STEPS - 1)) * span)) };
}

function quantileShades(values) {
  const sorted = Float32Array.from(values.filter(Number.isFinite)).sort(), last = Math.max(1, sorted.length - 1);
  const below = (v, equal) => { // how many are below v, or not above it
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (equal ? sorted[middle] <= v : sorted[middle] < v) from = middle + 1; else to = middle;
    }
    return from;
  };
  const shades = Uint16Array.from(values, (v) => (Number.isFinite(v)
    ? Math.round(((below(v, false) + below(v, true) - 1) / 2 / last) * (STEPS - 1)) : STEPS));
  return { shades, low: sorted[0] ?? 0, high: sorted.at(-1) ?? 1, value: (i) => sorted[Math.round((i / (STEPS - 1)) * (sorted.length - 1))] ?? 0 };
}

function rangeOf(values) {
  const step = Math.max(1, Math.floor(values.length / 20000)), seen = [];
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) seen.push(values[i]);
  if (!seen.length) return [0, 1];
  seen.sort((a, b) => a - b);
  const at = (share) => seen[Math.round(share * (seen.length - 1))];
  const [inner, outer] = [at(0.005), at(0.995)];
  return at(1) - at(0) > 3 * (outer - inner) && outer > inner ? [inner, outer] : [at(0), at(1)];
}
