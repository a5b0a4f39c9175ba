// Tables in text: read, recognised and prepared in the page, by the rules of lowdim.Prepare as far as they reach.
// A Worker is made from the text of this function, which therefore uses nothing outside of it; `rules` come from Python, `kinds` are columnRules of them.
export function tableReader(rules, kinds) {
  const SAMPLE = 2000; // rows by which columns of numbers are told from text
  const MOST_LISTED = 3;
  const missing = new Set(rules.missing);
  const pattern = (text) => new RegExp(text.replaceAll("\\x{a0}", "\\u00a0").replaceAll("\\x{202f}", "\\u202f"), "u");
  const styles = Object.entries(rules.numbers).map(([name, one]) => ({ name, whole: pattern(one.pattern), groups: new RegExp(pattern(one.groups).source, "gu") }));
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const quoted = (texts) => texts.slice(0, MOST_LISTED).map((one) => `'${one}'`).join(", ") + (texts.length > MOST_LISTED ? ` and ${texts.length - MOST_LISTED} more` : "");

  class Refusal extends Error {}

  function decoded(bytes) {
    const notes = [];
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: new TextDecoder("utf-16le").decode(bytes), notes: ["encoded in UTF-16"] };
    let text;
    try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch {
      text = new TextDecoder("windows-1252").decode(bytes);
      notes.push("encoded in Windows-1252");
    }
    if (text.slice(0, 4096).includes("\0")) throw new Refusal("A table in text is needed, such as a csv file; this file holds other data. Save it as csv first.");
    const other = /^\s*</.test(text) ? "a web page or XML" : /^\s*(\{\s*"|\[\s*[[{])/.test(text) ? "JSON" : "";
    if (other) throw new Refusal(`A table in text is needed, such as a csv file; this file holds ${other}. Save it as csv, or use lowdim in Python.`);
    return { text, notes };
  }

  // Calls `take(cells, line)` with each line that is not blank; false ends.
  function lines(text, separator, take) {
    const end = text.length;
    let at = 0, line = 0, cells = [];
    while (at < end) {
      let cell;
      if (text[at] === '"') {
        let from = at + 1, made = "";
        for (;;) {
          const to = text.indexOf('"', from);
          if (to < 0) throw new Refusal(`A quote in line ${line + 1} is not closed. Correct the file.`);
          made += text.slice(from, to);
          if (text[to + 1] === '"') { made += '"'; from = to + 2; continue; }
          at = to + 1;
          break;
        }
        cell = made;
        while (at < end && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") cell += text[at++];
      } else {
        let to = at;
        for (let code = text.charCodeAt(to); to < end && code !== separator.charCodeAt(0) && code !== 10 && code !== 13;) code = text.charCodeAt(++to);
        cell = text.slice(at, to);
        at = to;
      }
      cells.push(cell);
      if (text[at] === separator) { at++; if (at < end && text[at] !== "\n" && text[at] !== "\r") continue; if (at >= end || text[at] === "\n" || text[at] === "\r") cells.push(""); }
      if (text[at] === "\r") at++;
      if (text[at] === "\n") at++;
      if (cells.length > 1 || cells[0].trim() !== "") if (take(cells, line) === false) return;
      line++;
      cells = [];
    }
  }

  function separatorOf(text) {
    const first = text.slice(0, 65536).split(/\r?\n/).filter((one) => one.trim()).slice(0, 20).map((one) => one.replaceAll(/"[^"]*"/g, ""));
    const counts = [",", "\t", ";", "|"].map((sign) => [sign, ...first.slice(0, 2).map((line) => line.split(sign).length - 1)]);
    const even = counts.filter(([, above, below]) => above > 0 && (above === below || below === undefined));
    const decimal = even.find(([sign]) => sign !== "," && (first[1] ?? "").split(sign).some((cell) => /^\s*[+-]?\d+,\d+\s*$/.test(cell)));
    if (decimal) return decimal[0];
    if (!even.length && first.length > 2) { // titles may stand above the table
      const usual = counts.map(([sign]) => {
        const often = new Map();
        for (const line of first) { const n = line.split(sign).length - 1; often.set(n, (often.get(n) ?? 0) + 1); }
        const [cells, times] = [...often].sort((a, b) => b[1] - a[1])[0];
        return { sign, cells, times };
      }).filter((one) => one.cells);
      if (usual.length) return usual.sort((a, b) => b.times - a.times || b.cells - a.cells)[0].sign;
    }
    return (even.length ? even : counts).reduce((best, one) => (one[1] > best[1] ? one : best))[0];
  }

  const number = (cell) => { const text = cell.trim(); return text === "" || !/^[+-]?(\d|\.\d|inf|nan)/i.test(text) || /^[+-]?0[xob]/i.test(text) ? NaN : Number(text); };
  const isGap = (cell) => missing.has(cell.trim());

  // Whether the first line is data: all numbers, and not the 0, 1, 2, … of a pandas header.
  function isData(cells, below, commas) {
    const parsed = cells.map((cell) => number(commas ? cell.trim().replace(",", ".") : cell));
    if (parsed.every(Number.isNaN) || !cells.every((cell, j) => !Number.isNaN(parsed[j]) || isGap(cell))) return false;
    const texts = cells.map((cell) => cell.trim()), counts = texts.map((_, j) => String(j));
    if (texts.join() === counts.join()) return texts.length < 2 || (texts.length === 2 && below.every((cell) => Number.isInteger(number(cell))));
    return texts.join() !== ["", ...counts.slice(0, -1)].join();
  }

  // A file's columns, each as numbers (with the cells that are none) or as texts.
  function read(bytes, name, most = Infinity, least = 1) {
    const { text, notes } = decoded(bytes), separator = separatorOf(text);
    const signs = { ";": "semicolons", "\t": "tabs", "|": "bars" };
    if (signs[separator]) notes.push(`separated by ${signs[separator]}`);
    const head = [];
    lines(text, separator, (cells) => head.push(cells) < 12);
    if (!head.length) throw new Refusal(`${name} is empty. Choose a file with a line of names and lines of values.`);
    let above = 0;
    const wide = head.map((cells) => cells.length).sort((a, b) => a - b)[head.length >> 1];
    while (above < head.length - 1 && head[above].filter((cell) => cell.trim()).length < Math.min(2, wide) && wide > 1) above++;
    if (above) notes.push(`${plural(above, "line")} of titles left out`);
    const first = head[above], below = head[above + 1] ?? [];
    const header = !isData(first, below, separator !== ",");
    let names = header ? first.map((cell) => cell.trim()) : first.map((_, j) => `x${j}`);
    const width = names.length, twice = names.find((one, j) => one && names.indexOf(one) !== j);
    if (twice !== undefined) throw new Refusal(`Column names must be different; ${name} has '${twice}' more than once. Rename one of them.`);
    names = names.map((one, j) => one || (j ? `column ${j + 1}` : "index"));
    const skip = above + (header ? 1 : 0);
    let total = -skip;
    lines(text, separator, (cells, line) => {
      if (++total > 0 && cells.length !== width)
        throw new Refusal(`Every line needs ${width} cells; line ${line + 1} of ${name} has ${cells.length}. Correct the line, or quote cells that contain '${separator}'.`);
    });
    if (total < 1) throw new Refusal(`${name} has no rows below its names. Choose a file with some.`);
    if (total < least) throw new Refusal(`A map needs at least ${least} rows; ${name} has ${total}. Choose another file.`);
    const n = Math.min(total, most), kept = n < total ? chosen(total, n) : null;
    const columns = names.map(() => ({ values: new Float64Array(n), odd: null, texts: null }));
    const keepTexts = sampled(text, separator, skip, width);
    columns.forEach((one, j) => { if (keepTexts[j]) Object.assign(one, { values: null, texts: new Array(n) }); });
    let row = 0, seen = -skip;
    lines(text, separator, (cells) => {
      if (seen++ < 0) return undefined;
      if (kept && !kept[seen - 1]) return undefined;
      for (let j = 0; j < width; j++) {
        const one = columns[j], cell = cells[j];
        if (one.texts) { const cut = cell.trim(); one.texts[row] = missing.has(cut) ? null : cut; continue; }
        const value = cell === "" ? NaN : number(cell);
        one.values[row] = value;
        if (Number.isNaN(value) && !isGap(cell)) (one.odd ??= []).push([row, cell.trim()]);
      }
      return ++row < n;
    });
    if (kept) notes.push(`${plural(n, "row")} of ${total.toLocaleString("en")}, drawn at random`);
    const index = names[0] === "index" && header && !first[0].trim() ? 0 : -1;
    return { name, n, total, notes, semicolons: separator !== ",", columns: columns.map((one, j) => ({ name: names[j], index: j === index, ...one, texts: one.texts ?? (one.odd ? spelledAgain(one, n) : null) })) };
  }

  // Which columns hold text in some of the first rows, or digits that begin with zeros.
  function sampled(text, separator, skip, width) {
    const texts = new Array(width).fill(false);
    let seen = -skip;
    lines(text, separator, (cells) => {
      if (seen++ >= 0) for (let j = 0; j < width; j++) {
        const cut = cells[j].trim();
        if (!texts[j] && (/^0\d/.test(cut) || (!missing.has(cut) && Number.isNaN(number(cut))))) texts[j] = true;
      }
      return seen < SAMPLE;
    });
    return texts;
  }

  function spelledAgain({ values, odd }, n) {
    const texts = Array.from({ length: n }, (_, i) => (Number.isNaN(values[i]) ? null : String(values[i])));
    for (const [row, cell] of odd) texts[row] = cell;
    return texts;
  }

  // `n` of `total` rows, the same each time.
  function chosen(total, n) {
    const kept = new Uint8Array(total);
    let state = 12345, left = n;
    for (let i = 0; i < total; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      if ((state / 4294967296) * (total - i) < left) { kept[i] = 1; left--; }
    }
    return kept;
  }

  function spelled(text, style) { // NaN where it is no number in this style
    if (!style) return number(text);
    if (!style.whole.test(text)) return NaN;
    const bare = text.replaceAll(style.groups, "");
    return Number(style.name === rules.decimalCommas ? bare.replace(",", ".") : bare);
  }

  // The share of cells, by how often each value occurs, that pass a test.
  function shareOf(counts, passes) {
    let [kept, all] = [0, 0];
    for (const [value, count] of counts) { all += count; if (passes(value)) kept += count; }
    return kept / all;
  }

  function numberStyle(counts, commas) {
    const values = [...counts.keys()];
    const [comma, thousands] = [rules.decimalCommas, rules.thousands].map((name) => styles.find((one) => one.name === name));
    let best = { style: null, share: 0 };
    for (const style of commas ? [null, comma, thousands] : [null, thousands, comma]) {
      if (style && values.some((one) => /^[+-]?0\d/.test(one))) continue;
      if (style === thousands && !commas && values.some((one) => /^[+-]?0,\d/.test(one))) continue;
      const share = shareOf(counts, (one) => !Number.isNaN(spelled(one, style)));
      if (share > best.share) best = { style, share };
      if (share === 1) break;
    }
    return best;
  }

  const formats = rules.dates.map((form) => ({ form, parts: [...form.matchAll(/%[YmdHMSz]|%\.f/g)].map(([one]) => one),
    whole: new RegExp("^" + form.replaceAll(/[.]/g, "\\.").replaceAll("%Y", "(\\d{4})").replaceAll("%\\.f", "(\\.\\d+)?").replaceAll("%z", "([+-]\\d\\d:?\\d\\d)").replaceAll(/%[mdHMS]/g, "(\\d{1,2})") + "$") }));

  // Days since 1970, NaN where the text is no date in this format.
  function days(text, { whole, parts }) {
    const found = whole.exec(text);
    if (!found) return NaN;
    const of = {};
    parts.forEach((part, i) => { of[part] = found[i + 1]; });
    const [year, month, day] = [of["%Y"], of["%m"], of["%d"]].map(Number);
    const time = Date.UTC(year, month - 1, day), date = new Date(time);
    if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
    const hour = Number(of["%H"] ?? 0), minute = Number(of["%M"] ?? 0), second = Number(of["%S"] ?? 0) + Number(of["%.f"] || 0);
    if (hour > 23 || minute > 59 || second >= 60) return NaN;
    const zone = of["%z"] ? (of["%z"][0] === "-" ? -1 : 1) * (Number(of["%z"].slice(1, 3)) * 60 + Number(of["%z"].slice(-2))) : 0;
    return time / 864e5 + (hour * 60 + minute - zone) / 1440 + second / 86400;
  }

  function dateFormat(counts) {
    const values = [...counts.keys()];
    if (!values.slice(0, 200).some((one) => /^\d+[./-]\d+[./-]\d+/.test(one))) return { format: null, share: 0 };
    let best = { format: null, share: 0 };
    for (const format of formats) {
      const share = shareOf(counts, (one) => !Number.isNaN(days(one, format)));
      if (share > best.share) best = { format, share };
      if (share === 1) break;
    }
    return best;
  }

  function answer(text) {
    const plain = text.toLowerCase();
    return rules.yes.includes(plain) ? 1 : rules.no.includes(plain) ? 0 : NaN;
  }

  // What a column holds, and why: kind, values (numbers) or texts, and how text was read.
  function recognise(column, commas) {
    const { values, texts } = column, n = (texts ?? values).length;
    if (!texts) {
      let low = Infinity, high = -Infinity, gaps = 0, counting = n >= rules.counted;
      for (let i = 0; i < n; i++) {
        const v = values[i];
        if (!Number.isFinite(v)) { gaps++; counting = false; if (!Number.isNaN(v)) return { kind: "mixed", why: `it holds infinity in row ${i + 1}`, gaps }; continue; }
        if (counting && (!Number.isInteger(v) || (i && v !== values[i - 1] + 1))) counting = false;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
      if (gaps === n) return { kind: "empty", why: "it has no value in any row", gaps };
      if (low === high) return { kind: "constant", why: `every value is ${low}`, gaps };
      if (column.index || counting) return { kind: "identifier", why: "its integers number the rows", gaps };
      return { kind: "number", why: "it holds numbers", gaps };
    }
    const counts = new Map();
    let filled = 0;
    for (const one of texts) if (one !== null) { counts.set(one, (counts.get(one) ?? 0) + 1); filled++; }
    const gaps = n - filled, distinct = [...counts.keys()];
    if (!filled) return { kind: "empty", why: "it has no value in any row", gaps };
    if (distinct.length === 1) return { kind: "constant", why: `every value is '${distinct[0]}'`, gaps };
    if (distinct.length <= 12) {
      const lower = new Set(distinct.map((one) => one.toLowerCase()));
      const both = new Set([...lower].map(answer));
      const same = distinct.length === 2 || rules.languages.some((words) => [...lower].every((one) => words.includes(one)));
      if (same && both.size === 2 && !both.has(NaN)) return { kind: "yes/no", why: "it holds yes and no", gaps, read: answer };
    }
    if (distinct.every((one) => /^\d+(-\d{2,})?$/.test(one)) && (distinct.some((one) => /^0\d/.test(one)) || (distinct.some((one) => one.includes("-")) && !distinct.every((one) => one.includes("-")))))
      return { kind: "code", why: "its numbers begin with zeros, which numbers would lose", gaps, counts };
    const { style, share } = numberStyle(counts, commas);
    if (share === 1) return { kind: "number", why: `its text spells numbers with ${style?.name ?? "decimal points"}`, gaps, read: (one) => spelled(one, style) };
    const { format, share: dated } = dateFormat(counts);
    if (dated === 1) return { kind: "date", why: `its text spells dates as ${format.form}`, gaps, read: (one) => days(one, format) };
    const order = distinct.length <= rules.mostLevels ? kinds.orderOf(counts) : null;
    if (order) return { kind: "ordinal", why: `its ${distinct.length} answers form a scale from '${order[0]}' to '${order.at(-1)}'`, gaps, order };
    const one = kinds.numbersIn(counts, (bare) => numberStyle(bare, false).style, spelled);
    if (one && !one.strange && one.style !== undefined) return { kind: "number", why: `${one.why}, written with ${one.style?.name ?? "decimal points"}`, gaps, read: (cell) => kinds.numberOf(cell, one.style, one.unit, spelled) };
    if (one && share < rules.mostly) return { kind: "mixed", why: one.strange ? `${one.why} ${quoted(one.strange)}` : one.why, gaps };
    for (const [what, part, test] of [["number", share, (one) => spelled(one, style)], ["date", dated, (one) => (format ? days(one, format) : NaN)]])
      if (part >= rules.mostly || new Set(distinct.map(test).filter((v) => !Number.isNaN(v))).size > rules.mostLevels) return { kind: "mixed", why: `${Math.round(100 * part)} % of its values are ${what}s, but not ${quoted(distinct.filter((one) => Number.isNaN(test(one))))}`, gaps };
    const separator = kinds.separatorOf(counts);
    if (separator) return { kind: "multi-select", why: `its cells combine options, separated by '${separator}'`, gaps, separator };
    const words = distinct.slice(0, 10000).reduce((sum, one) => sum + one.split(/\s+/).length, 0) / Math.min(distinct.length, 10000);
    if (distinct.length > rules.mostLevels && words >= rules.words) return { kind: "text", why: `free text of ${Math.round(words)} words on average`, gaps };
    if (distinct.length > rules.different * filled) return { kind: "identifier", why: distinct.length === filled ? "every value is different" : `${Math.round((100 * distinct.length) / filled)} % of the values are different`, gaps };
    const merged = distinct.length <= rules.folded ? kinds.variants(counts) : new Map(), left = distinct.length - merged.size;
    if (left === 1) return { kind: "constant", why: `every value is '${distinct[0]}', in ${distinct.length} spellings`, gaps };
    for (const [other, kept] of merged) { counts.set(kept, counts.get(kept) + counts.get(other)); counts.delete(other); }
    return { kind: "category", why: `text of ${left.toLocaleString("en")} different values`, gaps, counts, merged };
  }

  const meanOf = (values) => { let sum = 0, count = 0; for (const v of values) if (!Number.isNaN(v)) { sum += v; count++; } return sum / count; };

  // Whether all columns are measured in one unit, as pixels and counts are: many, most with one minimum and a large reach.
  function oneUnit(columns, n) {
    const rows = Math.max(2, Math.min(1000, Math.floor(2 ** 20 / Math.max(1, columns.length)))), step = Math.max(1, Math.ceil(n / rows));
    const ends = columns.map((values) => {
      let [low, high] = [Infinity, -Infinity];
      for (let i = 0; i < n; i += step) { if (Number.isNaN(values[i])) return null; low = Math.min(low, values[i]); high = Math.max(high, values[i]); }
      return high > low ? [low, high] : null;
    }).filter(Boolean);
    if (ends.length < rules.many) return false;
    const bottom = Math.min(...ends.map((one) => one[0])), top = Math.max(...ends.map((one) => one[1]));
    const begin = ends.filter(([low]) => low <= bottom + 0.01 * (top - bottom)).length, reach = ends.filter(([, high]) => high >= (bottom + top) / 2).length;
    return 2 * Math.min(begin, reach) > ends.length;
  }

  // Columns as the map uses them: what is done with each, features (n × d), and how new rows become features.
  // `aside` names columns that are no features.
  function prepare(table, found, aside = []) {
    const { n } = table, recipes = [], used = (j) => !aside.includes(table.columns[j].name);
    const numbers = found.map((one, j) => (one.kind === "number" && used(j) ? valuesOf(table.columns[j], one) : null));
    const numeric = numbers.filter(Boolean), mixed = found.some((one, j) => used(j) && ["yes/no", "category", "code", "date"].includes(one.kind)) || table.columns.some((one, j) => used(j) && one.texts && found[j].kind !== "number");
    const unit = oneUnit(numeric, n), gapsIn = found.some((one, j) => numbers[j] && one.gaps);
    const how = mixed ? (numeric.length >= rules.many && unit ? "pooled" : "standardize") : unit ? "as_is" : "standardize";
    let spread = 0;
    const kept = [];
    table.columns.forEach((column, j) => {
      const one = found[j], told = { name: column.name, kind: one.kind, gaps: one.gaps, why: one.why };
      const fill = one.gaps ? `; ${plural(one.gaps, "missing value")} filled by the mean` : "";
      if (!used(j)) { recipes.push({ ...told, action: "drop", done: "not a feature: colours only", features: [] }); return; }
      if (one.kind === "number") {
        const values = numbers[j], mean = meanOf(values);
        let square = 0, count = 0;
        for (const v of values) if (!Number.isNaN(v)) { square += (v - mean) ** 2; count++; }
        const sd = Math.sqrt(square / count);
        spread += sd * sd;
        kept.push(recipes.length);
        recipes.push({ ...told, action: "number", mean, centre: how === "as_is" ? 0 : mean, scale: how === "standardize" ? sd : 1, read: one.read, features: [column.name],
          done: { standardize: "standardised", pooled: "centred and divided by their pooled standard deviation", as_is: "kept as it is" }[how] + fill });
      } else if (["yes/no", "date", "ordinal"].includes(one.kind)) {
        const place = one.order && kinds.placeIn(one.order, "answers"), read = place ? (text) => { const k = place(text); return k < 0 ? NaN : k; } : one.read;
        const values = valuesOf(column, { read }), mean = meanOf(values);
        let square = 0, count = 0;
        for (const v of values) if (!Number.isNaN(v)) { square += (v - mean) ** 2; count++; }
        recipes.push({ ...told, action: "number", mean, centre: mean, scale: Math.sqrt(square / count) || 1, read, features: [column.name],
          done: `${place ? `coded by its place in the order ${one.order.slice(0, 6).join(" < ")}${one.order.length > 6 ? " < …" : ""}` : one.kind === "date" ? "as days" : "coded 0 and 1"}, standardised${fill}` });
      } else if (one.kind === "multi-select") {
        const { levels, shares, scale, rest } = kinds.learnOptions(column.texts, one.separator);
        if (!levels.length) { recipes.push({ ...told, action: "drop", done: "left out", why: "every row has the same options", features: [] }); return; }
        recipes.push({ ...told, action: "options", separator: one.separator, levels, shares, scale, features: levels.map((level) => `${column.name}=${level}`),
          done: `${plural(levels.length, "indicator")} of options separated by '${one.separator}'${rest ? `, ${rest} rare or constant ones left out` : ""}, scaled as a group${fill}` });
      } else if (one.kind === "category" || one.kind === "code") {
        const sorted = [...one.counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1)), rows = sorted.reduce((sum, [, count]) => sum + count, 0);
        const pooled = sorted.length > rules.mostLevels, levels = sorted.slice(0, pooled ? rules.mostLevels - 1 : sorted.length).map(([level]) => level).sort();
        const held = levels.reduce((sum, level) => sum + one.counts.get(level), 0) / rows;
        if (pooled && held < rules.held) { recipes.push({ ...told, action: "drop", done: "left out", why: `${sorted.length.toLocaleString("en")} levels, of which the most frequent cover ${Math.round(100 * held)} % of the rows`, features: [] }); return; }
        const shares = levels.map((level) => one.counts.get(level) / rows).concat(pooled ? [1 - held] : []);
        const merged = one.merged?.size ? `; ${plural(one.merged.size, "spelling variant")} merged, such as '${[...one.merged][0].join("' into '")}'` : "";
        recipes.push({ ...told, action: "onehot", levels, pooled, shares, matching: merged ? "case" : "", features: [...levels.map((level) => `${column.name}=${level}`), ...(pooled ? [`${column.name}=(rare)`] : [])],
          done: `one-hot encoded to ${shares.length}${pooled ? `, ${sorted.length - levels.length} rare levels pooled` : ""}, scaled as a group${merged}${fill}` });
      } else recipes.push({ ...told, action: "drop", done: "left out", features: [] });
    });
    if (how === "pooled") { const root = Math.sqrt(spread / kept.length); for (const j of kept) recipes[j].scale = root; }
    const features = recipes.flatMap((one) => one.features), d = features.length;
    if (!d) throw new Refusal(`At least one column of numbers or categories is needed; ${table.name} has none that can be used: ${recipes.slice(0, 4).map((one) => `'${one.name}' (${one.why})`).join(", ")}. Choose another file, or change which columns are used.`);
    if (n * d * 4 > 1.5e9) throw new Refusal(`A page holds tables of up to 1.5 GB of numbers; this one has ${(n * d * 4 / 1e9).toFixed(1)} GB. Use fewer rows or columns, or lowdim in Python.`);
    return { recipes, features, d, how, gapsIn, rows: encode(table, recipes, d) };
  }

  function valuesOf({ values, texts }, { read, levels }) {
    if (!texts) return levels ? values.map((one) => (Number.isNaN(one) ? NaN : read(String(one)))) : values;
    return Float64Array.from(texts, (one) => (one === null ? NaN : read ? read(one) : number(one)));
  }

  const textOf = ({ values, texts }, i) => (texts ? texts[i] : Number.isNaN(values[i]) ? null : String(values[i]));

  // A recipe as Python writes it, with the function that reads cells. Where Python read numbers and dates with the file,
  // this file says how it writes them.
  function revived(recipe, texts, commas) {
    const { action, spelling = "", unit = "", levels, matching } = recipe;
    if (recipe.read || !["number", "yes/no", "date", "ordinal"].includes(action)) return { ...recipe, separator: recipe.separator ?? spelling };
    const counts = new Map();
    if (!spelling) for (const one of texts ?? []) if (one !== null) counts.set(one, (counts.get(one) ?? 0) + 1);
    const style = counts.size && action === "number" ? numberStyle(counts, commas).style : styles.find((one) => one.name === spelling) ?? null;
    const format = counts.size && action === "date" ? dateFormat(counts).format : formats.find((one) => one.form === spelling), place = action === "ordinal" && kinds.placeIn(levels, matching);
    const read = { "yes/no": answer, date: (text) => (format ? days(text, format) : NaN), ordinal: (text) => { const k = place(text); return k < 0 ? NaN : k; },
      number: (text) => kinds.numberOf(text, style, unit, spelled) }[action];
    const needs = { "yes/no": "yes or no", date: `dates${spelling && ` as ${spelling}`}`, ordinal: `one of ${quoted(levels ?? [])}`, number: unit ? `numbers in '${unit}'` : "numbers" }[action];
    return { ...recipe, action: "number", read, needs, levels: place ? levels : undefined };
  }

  function encode(table, recipes, d) {
    const { n } = table, out = new Float32Array(n * d);
    let at = 0;
    table.columns.forEach((column, j) => {
      const recipe = recipes[j];
      if (recipe.action === "number") {
        const values = valuesOf(column, recipe);
        for (let i = 0; i < n; i++) out[i * d + at] = ((Number.isNaN(values[i]) ? recipe.mean : values[i]) - recipe.centre) / recipe.scale;
        at += 1;
      } else if (recipe.action === "onehot") {
        const place = kinds.placeIn(recipe.levels, recipe.matching), width = recipe.shares.length, known = new Map();
        for (let i = 0; i < n; i++) {
          const text = textOf(column, i);
          if (text === null) continue;
          if (!known.has(text)) known.set(text, place(text));
          const k = known.get(text) < 0 && recipe.pooled ? width - 1 : known.get(text);
          if (k < 0) continue;
          for (let c = 0; c < width; c++) out[i * d + at + c] = -Math.sqrt(recipe.shares[c]);
          out[i * d + at + k] += 1 / Math.sqrt(recipe.shares[k]);
        }
        at += width;
      } else if (recipe.action === "options") {
        const { levels, shares, scale } = recipe, spread = shares.map((share) => Math.sqrt(share * (1 - share)) * scale);
        for (let i = 0; i < n; i++) {
          const text = textOf(column, i), here = text === null ? null : new Set(kinds.optionsIn(text, recipe.separator));
          if (here) levels.forEach((level, k) => { out[i * d + at + k] = ((here.has(level) ? 1 : 0) - shares[k]) / spread[k]; });
        }
        at += levels.length;
      }
    });
    return out;
  }

  // Features (m × d) of the rows of another file, by the recipes of this one; columns are found by name.
  function apply(other, given, d) {
    const byPlace = given.every((recipe, j) => recipe.name === `x${j}`) && other.columns.length === given.length;
    const here = given.map((recipe, j) => other.columns.find((one) => one.name === recipe.name) ?? (byPlace ? other.columns[j] : undefined));
    const recipes = given.map((recipe, j) => revived(recipe, here[j]?.texts, other.semicolons));
    const columns = recipes.map((recipe, j) => {
      const column = here[j];
      if (!column && recipe.action !== "drop") throw new Refusal(`New rows need the columns of the map; ${other.name} lacks '${recipe.name}'. It has ${quoted(other.columns.map((one) => one.name))}. Rename or add columns.`);
      if (!column) return { values: new Float64Array(other.n), texts: null };
      const gap = recipe.missing === "error" ? (column.texts ?? column.values).findIndex((one) => one === null || Number.isNaN(one)) : -1;
      if (gap >= 0 && recipe.action !== "drop") throw new Refusal(`Every cell must hold a value; ${other.name} has none in column '${recipe.name}', row ${gap + 1}. Fill it in, or leave the row out.`);
      if (recipe.action === "number") {
        const values = valuesOf(column, recipe), row = values.findIndex((v, i) => Number.isNaN(v) && (column.texts ? column.texts[i] !== null : false));
        if (row >= 0) throw new Refusal(`Column '${recipe.name}' must hold ${recipe.needs ?? "values as in the file of the map"}; ${other.name} has '${column.texts[row]}' in row ${row + 1}. Correct it.`);
      }
      return column;
    });
    return encode({ n: other.n, columns }, recipes, d);
  }

  const inOrder = (a, b) => (Number(a) - Number(b)) || (a < b ? -1 : a > b ? 1 : 0);

  // Columns as the page colours by them: categories in codes, or values.
  function shown(table, found, aside = []) {
    return table.columns.map((column, j) => {
      const { kind, counts } = found[j], { name } = column;
      if (kind === "number" || kind === "date") {
        const values = valuesOf(column, found[j]), few = aside.includes(name) ? new Set(values.filter((v) => !Number.isNaN(v))) : null;
        if (!few || few.size > 50 || [...few].some((v) => !Number.isInteger(v))) return { name, kind: "number", missing: found[j].gaps, arrays: { values: Float32Array.from(values) } };
      }
      const texts = column.texts ?? Array.from(column.values, (v) => (Number.isNaN(v) ? null : String(v)));
      const canonical = found[j].merged?.size ? (one) => found[j].merged.get(one) ?? one : (one) => one;
      const names = found[j].order ? found[j].order : [...(counts?.keys() ?? new Set(texts.filter((one) => one !== null)))].sort(inOrder);
      const listed = names.slice(0, 65534), exact = new Map(listed.map((one, k) => [one, k])), alike = found[j].order && kinds.placeIn(listed, "answers"), wide = listed.length >= 255;
      const codes = (wide ? Uint16Array : Uint8Array).from(texts, (one) => (one === null ? (wide ? 65535 : 255) : exact.get(canonical(one)) ?? alike?.(one) ?? (wide ? 65535 : 255)));
      const unique = listed.length > 50 && listed.length > table.n / 2;
      return { name, kind: unique ? "text" : "category", categories: listed, missing: found[j].gaps, arrays: { codes } };
    });
  }

  return { read, recognise, prepare, apply, shown, Refusal };
}

// The Worker of a page that reads files. Messages: {id, bytes, name, most, aside} and {id, again: aside} (the columns of the
// file read last, others aside), {id, place: bytes, name} (new rows); answers are {id, answer} or {id, error}.
export function readerWorker(scope, reader) {
  let table = null, found = null, prepared = null;
  const usual = (label) => /^(label|labels|class|target|species|category|type|y|group)$/i.test(label);
  function answer(aside) {
    const asked = aside ?? (() => {
      const categories = table.columns.map((one, j) => ({ one, kind: found[j].kind })).filter(({ kind }) => kind === "category" || kind === "yes/no");
      const named = table.columns.filter((one, j) => usual(one.name) && found[j].kind !== "identifier" && found[j].kind !== "empty").map((one) => one.name);
      return named.length ? named.slice(0, 1) : categories.length === 1 ? [categories[0].one.name] : [];
    })();
    prepared = reader.prepare(table, found, asked);
    const { rows, features, d, how, gapsIn } = prepared;
    return { n: table.n, total: table.total, d, rows, features, how, gapsIn, aside: asked, notes: table.notes,
      plan: prepared.recipes.map(({ name, kind, done, why, gaps }) => ({ name, kind, done, why, gaps })), columns: reader.shown(table, found, asked) };
  }
  scope.onmessage = async ({ data }) => {
    try {
      if (data.file) {
        table = reader.read(new Uint8Array(await data.file.arrayBuffer()), data.name, data.most, data.least);
        found = table.columns.map((one) => reader.recognise(one, table.semicolons));
        scope.postMessage({ id: data.id, answer: answer(null) });
      } else if (data.place) {
        const other = reader.read(data.place, data.name);
        scope.postMessage({ id: data.id, answer: { rows: reader.apply(other, data.recipes ?? prepared.recipes, data.d ?? prepared.d), n: other.n } });
      } else scope.postMessage({ id: data.id, answer: answer(data.aside) });
    } catch (error) {
      const words = error instanceof reader.Refusal ? error.message : error instanceof RangeError ? "The file is too large for the memory of this page. Use fewer rows or columns, or lowdim in Python." : `The file could not be read (${error.message}).`;
      scope.postMessage({ id: data.id, error: words });
    }
  };
}
