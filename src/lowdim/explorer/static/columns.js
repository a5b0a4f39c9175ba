// What text in a column means beyond plain numbers and categories: units, ordered answers, several options in a cell and
// spelling variants, by the rules of lowdim.Prepare. A Worker is made from the text of this function, which therefore
// uses nothing outside of it; `rules` come from Python.
export function columnRules(rules) {
  const pattern = (text) => new RegExp(text.replaceAll("\\x{a0}", "\\u00a0").replaceAll("\\x{202f}", "\\u202f"), "u");
  const withUnit = pattern(rules.unit), units = new Set(rules.units), [numbered, bracketed, between] = [rules.numbered, rules.bracketed, rules.between].map(pattern);
  const folding = (text) => text.toLowerCase().replaceAll("ß", "ss");
  const spaceless = (text) => text.trim().split(/\s+/u).join(" ");

  // A number without its unit, the unit, and whether a space parts them; null where a cell is no such number.
  function split(cell) {
    const found = withUnit.exec(cell);
    if (!found) return null;
    const [, first, opened, sign, before, second, number, after, trailing, closed] = found;
    const minus = /[-−–]/u.test(sign + second), own = before ?? first, bare = number.trim();
    if (!bare || (opened === undefined) !== (closed === undefined) || (sign && second) || (opened !== undefined && minus) || (first && before) || (own && after)) return null;
    const negative = opened !== undefined || trailing !== undefined || minus;
    return { bare: negative ? `-${bare}` : bare, unit: ((own ?? "") + (after ?? "")).trim(), spaced: /[\s\u00a0\u202f]$/u.test(number) || own !== undefined };
  }

  function plainUnit(given) {
    let unit = given.replace(/\.+$/, "");
    if (unit.length < 2) return unit;
    unit = folding(unit);
    return unit.length > 3 && unit.endsWith("s") ? unit.slice(0, -1) : unit;
  }
  const sameUnit = (one, other) => plainUnit(one) === plainUnit(other);

  // The unit of cells that spell numbers, with the values of their numbers, or why their units do not fit; null where they
  // are no such numbers. `styleOf(counts)` finds how numbers are written, `spelled(text, style)` reads them.
  function numbersIn(counts, styleOf, spelled) {
    const cells = [...counts.keys()], parts = new Map(cells.map((cell) => [cell, split(cell)]));
    const probe = cells.slice(0, 100);
    if (probe.filter((cell) => !parts.get(cell)).length > probe.length / 2) return null;
    const bare = new Map();
    for (const [cell, count] of counts) if (parts.get(cell)) bare.set(parts.get(cell).bare, (bare.get(parts.get(cell).bare) ?? 0) + count);
    if (!bare.size) return null;
    const style = styleOf(bare), read = (cell) => { const one = parts.get(cell); return one ? spelled(one.bare, style) : NaN; };
    const often = new Map(), spaced = new Map();
    let [known, all, without] = [0, 0, 0];
    for (const [cell, count] of counts) {
      all += count;
      if (Number.isNaN(read(cell))) continue;
      known += count;
      const { unit, spaced: apart } = parts.get(cell);
      if (!unit) { without += count; continue; }
      often.set(unit, (often.get(unit) ?? 0) + count);
    }
    for (const one of parts.values()) if (one?.unit) spaced.set(one.unit, (spaced.get(one.unit) ?? true) && one.spaced);
    const named = [...often.keys()].sort();
    if (known / all < rules.mostly || !named.every((unit) => units.has(unit) || (spaced.get(unit) && counts.size >= rules.fewUnits))) return null;
    if (named.some((unit) => !sameUnit(unit, named[0])))
      return counts.size <= rules.mostLevels ? null : { why: `its numbers have several units: ${named.slice(0, 4).map((one) => `'${one}'`).join(", ")}` };
    const unit = named.reduce((best, one) => (best === "" || often.get(one) > often.get(best) ? one : best), "");
    const what = unit ? `numbers in '${unit}'` : "numbers, negative in parentheses";
    if (known < all) return { why: `${Math.round((100 * known) / all)} % of its values are ${what}, but not`, strange: cells.filter((cell) => Number.isNaN(read(cell))) };
    return { unit, style, why: `its text spells ${what}${unit && without ? `, ${without.toLocaleString("en")} of them without the unit` : ""}` };
  }

  // The number in a cell with this unit or none.
  function numberOf(cell, style, unit, spelled) {
    const plain = spelled(cell, style);
    if (!Number.isNaN(plain)) return plain;
    const one = split(cell);
    return one && (!one.unit || sameUnit(one.unit, unit)) ? spelled(one.bare, style) : NaN;
  }

  // An answer without case, hyphens, points and double spaces.
  function plainAnswer(text) {
    const plain = folding(text.normalize("NFKC").replaceAll("’", "'")).replaceAll(/(?<=[\p{L}\p{N}_])\s*[-_–]\s*(?=[\p{L}\p{N}_])/gu, " ");
    return spaceless(plain).replace(/^[ .!]+|[ .!]+$/gu, "");
  }

  function byNumbers(values) {
    const place = new Map(), texts = new Set();
    for (const value of values) {
      const last = bracketed.exec(value.trim()), match = numbered.exec(value.trim());
      if (!last && !match) return null;
      const [number, words] = last ? [Number(last[2]), last[1]] : [Number(match[1] ?? match[3]), match[2] ?? ""];
      if (place.has(number) || /\p{Nd}/u.test(words)) return null;
      place.set(number, value);
      texts.add(words);
    }
    const [low, high] = [Math.min(...place.keys()), Math.max(...place.keys())];
    if (texts.size < 2 || ![...texts].some((text) => /\p{L}{2}/u.test(text))) return null;
    if (high - low >= rules.steps || place.size < (high - low + 1) / 2) return null;
    return Array.from({ length: high - low + 1 }, (_, i) => place.get(low + i) ?? String(low + i));
  }

  function byWords(said) {
    for (const scale of [...rules.scales].sort((a, b) => a.length - b.length)) {
      const place = new Map(scale.flatMap((words, i) => words.map((word) => [plainAnswer(word), i])));
      const own = new Map([...said].map(([word, value]) => [place.get(word), value]));
      if (own.has(undefined) || own.size < said.size) continue;
      return scale.flatMap((words, i) => (own.has(i) || !between.test(words[0]) ? [own.get(i) ?? words[0]] : []));
    }
    return null;
  }

  // Levels from low to high, where the values are answers of one scale. `counts`: of the values.
  function orderOf(counts) {
    if (counts.size < 2 || counts.size > rules.mostAnswers) return null;
    const said = new Map();
    for (const [value] of [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1))) if (!said.has(plainAnswer(value))) said.set(plainAnswer(value), value);
    return said.size < 2 ? null : byNumbers(said.values()) ?? byWords(said);
  }

  const optionsIn = (cell, separator) => cell.split(separator).map((one) => one.trim()).filter(Boolean);

  // What parts the options of cells; empty where they hold one each.
  function separatorOf(counts) {
    if (counts.size > rules.mostCells) return "";
    const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
    for (const separator of rules.separators) {
      const seen = new Map();
      let [several, twice] = [0, false];
      for (const [cell, count] of counts) {
        const parts = optionsIn(cell, separator);
        if (parts.length > 1) several += count;
        twice ||= new Set(parts).size < parts.length;
        for (const part of parts) seen.set(part, (seen.get(part) ?? 0) + 1);
      }
      if (several < rules.several * total || twice) continue;
      const strict = separator === ",", recurring = [...seen.values()].filter((count) => count > 1).length;
      const few = seen.size >= 2 && seen.size <= rules.mostLevels && (strict ? seen.size < counts.size : seen.size <= counts.size);
      if (few && recurring >= (strict ? seen.size : 2) && [...seen.keys()].every((one) => one.length <= rules.longOption)) return separator;
    }
    return "";
  }

  // Options that some cells hold and some do not, their shares, and the root of the largest eigenvalue of the correlations.
  function learnOptions(texts, separator) {
    const cells = texts.filter((one) => one !== null).map((one) => new Set(optionsIn(one, separator))), counts = new Map();
    for (const one of cells) for (const part of one) counts.set(part, (counts.get(part) ?? 0) + 1);
    const varying = [...counts].filter(([, count]) => count < cells.length).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const levels = varying.slice(0, rules.mostLevels).map(([one]) => one).sort(), k = levels.length, shares = levels.map((one) => counts.get(one) / cells.length);
    const R = levels.map(() => new Float64Array(k)), place = new Map(levels.map((one, j) => [one, j]));
    for (const one of cells) { const here = [...one].flatMap((part) => place.get(part) ?? []); for (const a of here) for (const b of here) R[a][b] += 1 / cells.length; }
    const spread = shares.map((share) => Math.sqrt(share * (1 - share)));
    for (let a = 0; a < k; a++) for (let b = 0; b < k; b++) R[a][b] = (R[a][b] - shares[a] * shares[b]) / (spread[a] * spread[b]);
    let v = levels.map((_, j) => 1 + j / (k + 1)), largest = 1;
    for (let step = 0; step < 3000 && k; step++) {
      const next = R.map((row) => row.reduce((sum, one, j) => sum + one * v[j], 0)), length = Math.hypot(...next);
      if (Math.abs(length - largest) < 1e-13 * length) break;
      largest = length;
      v = next.map((one) => one / length);
    }
    return { levels, shares, scale: Math.sqrt(largest), rest: counts.size - k };
  }

  // Text without double spaces, and in lower case unless it is a code.
  function folded(text) { const plain = spaceless(text); return [...plain].length === rules.shortCode ? plain : folding(plain); }

  // The most frequent spelling of each text that has several, for its other spellings.
  function variants(counts) {
    const best = new Map(), upper = (one) => one === one.toUpperCase() && one !== one.toLowerCase();
    const ordered = [...counts].sort(([a, m], [b, n]) => n - m || a.length - b.length || upper(a) - upper(b) || (a < b ? -1 : 1));
    for (const [text] of ordered) if (!best.has(folded(text))) best.set(folded(text), text);
    return new Map([...counts.keys()].filter((text) => best.get(folded(text)) !== text).map((text) => [text, best.get(folded(text))]));
  }

  // Index of the level that a text is, exactly or as `matching` says; −1 where it is none.
  function placeIn(levels, matching) {
    const plain = matching === "answers" ? plainAnswer : folded, exact = new Map(levels.map((level, i) => [level, i])), near = new Map();
    if (matching) levels.forEach((level, i) => { if (!near.has(plain(level))) near.set(plain(level), i); });
    return (text) => exact.get(text) ?? (matching ? near.get(plain(text)) : undefined) ?? -1;
  }

  return { numbersIn, numberOf, orderOf, optionsIn, separatorOf, learnOptions, variants, placeIn };
}
