// Pieces of the page. Text from the data comes in as text, never as markup.

// An element with properties (those with a dash are attributes) and children, which are elements or text.
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || ["role", "for", "list"].includes(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(text, onclick, properties = {}) {
  return make("button", { type: "button", onclick, ...properties }, text);
}

export function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function press(one, pressed) { one.setAttribute("aria-pressed", String(pressed)); return one; }

export function grouped(count) { return Number(count).toLocaleString("en"); }
export function plural(count, word) { return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`; }

export function digits(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return grouped(value).replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

export function lasting(seconds) {
  if (seconds < 0.995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

// Parameters in words, at most about so many letters; the rest is an ellipsis.
export function inWords(parameters, most = Infinity) {
  const words = Object.entries(parameters ?? {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${value ?? "none"}`);
  let told = 1;
  while (told < words.length && words.slice(0, told + 1).join(", ").length <= most) told++;
  return words.slice(0, told).join(", ") + (told < words.length ? ", …" : "");
}

// A name that is cut in the middle where there is no room, so that names that begin alike stay apart.
export function cutName(name) {
  const text = String(name ?? "missing"), at = text.length > 12 ? text.length - 7 : text.length;
  return make("span", { className: "name", title: text }, make("span", { className: "start" }, text.slice(0, at)),
    at < text.length ? make("span", { className: "end" }, text.slice(at)) : null);
}

// Offers a file for download.
export function download(bytes, filename, mime) {
  const address = URL.createObjectURL(bytes instanceof Blob ? bytes : new Blob([bytes], { type: mime }));
  make("a", { href: address, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function bytesToText(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(text);
}

export function textToBytes(text) { return Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0)); }
