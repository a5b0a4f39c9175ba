// Thumbnails of rows that are images: requested in sheets, cached for a while.

const KEPT = 3000;
const ONCE = 200; // thumbnails requested at a time

export class Pictures {
  constructor(line, images) {
    this.line = line;
    this.images = images;
    this.tiles = new Map(); // row → pixels
  }

  // Ensures that these rows have thumbnails; returns whether there are any.
  async want(rows) {
    if (!this.images) return false;
    const lacking = [...rows].filter((row) => !this.tiles.has(row)).slice(0, ONCE);
    if (lacking.length) {
      try { this.keep(lacking, await this.line.ask("thumbs", { rows: lacking })); } catch { return false; }
    }
    return true;
  }

  keep(rows, { width, height, columns, arrays }) {
    const { atlas } = arrays, wide = columns * width;
    rows.forEach((row, i) => {
      const [left, top] = [(i % columns) * width, Math.floor(i / columns) * height], tile = new ImageData(width, height);
      for (let y = 0; y < height; y++) {
        const from = 4 * ((top + y) * wide + left);
        tile.data.set(atlas.subarray(from, from + 4 * width), 4 * y * width);
      }
      this.tiles.set(row, tile);
    });
    for (const row of this.tiles.keys()) { if (this.tiles.size <= KEPT) break; this.tiles.delete(row); }
  }

  // A canvas with the thumbnail of a row, or null.
  of(row) {
    const tile = this.tiles.get(row);
    if (!tile) return null;
    const canvas = Object.assign(document.createElement("canvas"), { width: tile.width, height: tile.height, className: "tile" });
    canvas.getContext("2d").putImageData(tile, 0, 0);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Image of row ${row + 1}`);
    return canvas;
  }
}
