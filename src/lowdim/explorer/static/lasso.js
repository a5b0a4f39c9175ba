// Which rows lie inside of a drawn outline: the outline becomes a mask of pixels, then one lookup per row.

// `outline` holds positions in pixels from the upper left; the result has a byte per row.
export function enclosed(outline, cloud, eye, blend, width, height) {
  const inside = new Uint8Array(cloud.count), mask = maskOf(outline, width, height);
  const { from, to, base } = combined(cloud, eye, blend, width, height), dims = cloud.dims;
  const [a, b] = cloud.places, still = blend >= 1;
  for (let i = 0, at = 0; i < cloud.count; i++, at += dims) {
    if (cloud.present && !cloud.present[i]) continue;
    let [x, y, w] = base;
    for (let d = 0; d < dims; d++) {
      const v = b[at + d], k = to[d];
      x += k[0] * v; y += k[1] * v; w += k[2] * v;
      if (!still) { const u = a[at + d], j = from[d]; x += j[0] * u; y += j[1] * u; w += j[2] * u; }
    }
    const px = Math.floor(x / w), py = Math.floor(y / w);
    if (px >= 0 && py >= 0 && px < width && py < height && mask[py * width + px]) inside[i] = 1;
  }
  return inside;
}

// From the 16 bits of both positions to pixels (times w), w: three numbers per coordinate, and an offset.
function combined(cloud, eye, blend, width, height) {
  const [a, b] = cloud.boxes, base = [0, 0, 0], part = (d, share, span) => {
    const w = eye[4 * d + 3], x = eye[4 * d], y = eye[4 * d + 1];
    return [(x + w) * 0.5 * width, (w - y) * 0.5 * height, w].map((v) => v * share * span);
  };
  const from = [], to = [];
  for (let d = 0; d < cloud.dims; d++) {
    from.push(part(d, 1 - blend, (a[d][1] - a[d][0]) / 65535));
    to.push(part(d, blend, (b[d][1] - b[d][0]) / 65535));
    part(d, (1 - blend) * a[d][0] + blend * b[d][0], 1).forEach((v, i) => { base[i] += v; });
  }
  part(3, 1, 1).forEach((v, i) => { base[i] += v; });
  return { from, to, base };
}

function maskOf(outline, width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.beginPath();
  outline.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.fill("evenodd");
  const pixels = pen.getImageData(0, 0, width, height).data, mask = new Uint8Array(width * height);
  for (let i = 0; i < mask.length; i++) mask[i] = pixels[4 * i + 3] > 127 ? 1 : 0;
  return mask;
}

// Masks as they are sent: one bit per row, the lowest first.
export function packedBits(bytes) {
  const bits = new Uint8Array(Math.ceil(bytes.length / 8));
  for (let i = 0; i < bytes.length; i++) if (bytes[i]) bits[i >> 3] |= 1 << (i & 7);
  return bits;
}

export function unpackedBits(bits, count) {
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i++) bytes[i] = (bits[i >> 3] >> (i & 7)) & 1;
  return bytes;
}
