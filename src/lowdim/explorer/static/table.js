// Rows as a table, a page at a time: all of them, or those of the selection.
import { make, button, grouped } from "./dom.js";

const PAGE = 50;

export class Table {
  // `host` has line, n, selected (how many), hold(row), hovered(null, row), picture(row), wanted(rows).
  constructor(place, host) {
    this.host = host;
    this.start = 0;
    this.open = false;
    this.head = make("thead");
    this.body = make("tbody");
    this.told = make("span", { className: "told" });
    this.before = button("‹", () => this.turn(-PAGE), { "aria-label": "Previous rows" });
    this.after = button("›", () => this.turn(PAGE), { "aria-label": "Next rows" });
    this.fold = button("Rows", () => this.toggle(), { className: "fold", "aria-expanded": "false" });
    this.pager = make("span", { className: "pager", hidden: true }, this.before, this.told, this.after);
    this.sheet = make("div", { className: "sheet", hidden: true, tabIndex: 0, role: "region", "aria-label": "Rows" },
      make("table", {}, this.head, this.body));
    place.append(make("div", { className: "bar" }, this.fold, this.pager), this.sheet);
  }

  toggle() {
    this.open = !this.open;
    this.fold.setAttribute("aria-expanded", String(this.open));
    this.sheet.hidden = this.pager.hidden = !this.open;
    this.show(0);
  }

  get total() { return this.host.selected || this.host.n; }

  turn(by) { this.show(Math.min(Math.max(0, this.start + by), Math.max(0, this.total - 1))); }

  async show(start = 0) {
    this.fold.textContent = this.host.selected ? `Rows of the selection (${grouped(this.host.selected)})` : `Rows (${grouped(this.host.n)})`;
    if (!this.open) return;
    this.start = start;
    const asked = (this.asked = {});
    let page;
    try {
      page = await this.host.line.ask("rows", { start, count: PAGE, of: this.host.selected ? "selection" : "all" });
    } catch (error) { this.host.failed(error); return; }
    if (asked !== this.asked) return; // another page has been requested since
    const images = await this.host.wanted(page.index);
    this.head.replaceChildren(make("tr", {}, images ? make("th", { scope: "col" }, "") : null,
      make("th", { scope: "col" }, "row"), ...page.columns.map((name) => make("th", { scope: "col" }, name))));
    this.body.replaceChildren(...page.rows.map((cells, i) => {
      const row = page.index[i];
      return make("tr", { onmouseenter: () => this.host.hovered(null, row), onmouseleave: () => this.host.hovered(null, -1) },
        images ? make("td", {}, this.host.picture(row)) : null,
        make("th", { scope: "row" }, button(grouped(row + 1), () => this.host.hold(row))), ...cells.map((text) => make("td", { title: text }, text)));
    }));
    this.told.textContent = page.total ? `${grouped(start + 1)}–${grouped(start + page.rows.length)} of ${grouped(page.total)}` : "none";
    this.before.disabled = start === 0;
    this.after.disabled = start + PAGE >= page.total;
    this.sheet.scrollTop = 0;
  }
}
