// The point of view of a map: its frame, and how far the user has moved, zoomed or rotated it.

const ROOM = 0.46; // of the view on either side of the middle that the frame takes
const NEAR = 0.35; // strength of perspective

export class Camera {
  constructor(dims) {
    this.dims = dims;
    this.frames = [unitFrame(), unitFrame()]; // of the previous and the next positions of the rows
    this.home();
  }

  home() {
    this.zoom = 1;
    this.pan = [0, 0]; // in pixels at zoom 1
    this.yaw = 0.6;
    this.pitch = 0.35;
  }

  get moved() { return this.zoom !== 1 || this.pan[0] !== 0 || this.pan[1] !== 0; }

  // A new frame of the map; the camera moves there with the rows.
  follow(frame, first) {
    this.frames = first ? [frame, frame] : [this.frames[1], frame];
  }

  // Middle and half sides of the frame while rows are moving.
  framed(blend) {
    const [a, b] = this.frames, mixed = (u, v) => u.map((value, i) => value + blend * (v[i] - value));
    return { middle: mixed(a.middle, b.middle), half: mixed(a.half, b.half) };
  }

  // Pixels per unit of the data at zoom 1.
  scale(blend, width, height) {
    const { half } = this.framed(blend);
    if (this.dims === 3) return (ROOM * Math.min(width, height)) / Math.hypot(...half);
    return Math.min((ROOM * width) / half[0], (ROOM * height) / half[1]);
  }

  // From the data to clip space, column by column.
  eye(blend, width, height) {
    const { middle, half } = this.framed(blend), s = this.scale(blend, width, height) * this.zoom;
    const [kx, ky] = [(2 * s) / width, (2 * s) / height];
    const [px, py] = [(2 * this.pan[0] * this.zoom) / width, (-2 * this.pan[1] * this.zoom) / height];
    if (this.dims === 2)
      return new Float32Array([kx, 0, 0, 0, 0, ky, 0, 0, 0, 0, 1, 0, px - kx * middle[0], py - ky * middle[1], 0, 1]);
    const unit = 1 / Math.hypot(...half);
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const right = [cy, 0, sy], up = [sy * sp, cp, -cy * sp], back = [-sy * cp, sp, cy * cp];
    const out = new Float32Array(16), rows = [right.map((v) => v * kx), up.map((v) => v * ky),
      back.map((v) => -0.2 * unit * v), back.map((v) => -NEAR * unit * v)];
    for (let r = 0; r < 4; r++) {
      for (let c = 0; c < 3; c++) out[4 * c + r] = rows[r][c];
      out[12 + r] = -(rows[r][0] * middle[0] + rows[r][1] * middle[1] + rows[r][2] * middle[2]) + (r === 3 ? 1 : 0);
    }
    // moving sideways moves all rows equally, at any depth
    for (let c = 0; c < 4; c++) { out[4 * c] += px * out[4 * c + 3]; out[4 * c + 1] += py * out[4 * c + 3]; }
    return out;
  }

  // Zoom by a factor about the pointer.
  closer(factor, x, y, width, height) {
    const next = Math.min(4000, Math.max(0.2, this.zoom * factor)), [dx, dy] = [x - width / 2, y - height / 2];
    this.pan = [this.pan[0] + dx / next - dx / this.zoom, this.pan[1] + dy / next - dy / this.zoom];
    this.zoom = next;
  }

  shift(dx, dy) { this.pan = [this.pan[0] + dx / this.zoom, this.pan[1] + dy / this.zoom]; }

  turn(dx, dy) {
    this.yaw -= dx * 0.008;
    this.pitch = Math.min(1.57, Math.max(-1.57, this.pitch + dy * 0.008));
  }

  get state() { return { zoom: this.zoom, pan: this.pan, yaw: this.yaw, pitch: this.pitch }; }
  set state({ zoom, pan, yaw, pitch }) { Object.assign(this, { zoom, pan: [...pan], yaw, pitch }); }
}

function unitFrame() { return { middle: [0, 0, 0], half: [1, 1, 1] }; }

// Position of a point of the data on the view: pixels from its upper left, and the divisor of perspective.
export function projected(eye, place, width, height) {
  const [x, y, z] = [place[0], place[1], place[2] || 0];
  const w = eye[3] * x + eye[7] * y + eye[11] * z + eye[15];
  return [
    (((eye[0] * x + eye[4] * y + eye[8] * z + eye[12]) / w) * 0.5 + 0.5) * width,
    (0.5 - ((eye[1] * x + eye[5] * y + eye[9] * z + eye[13]) / w) * 0.5) * height, w,
  ];
}

// What to frame: all rows, or nearly all if a few outliers would shrink the others to a spot.
// The frame of several frames.
export function frameAround(frames) {
  const frame = unitFrame();
  for (let d = 0; d < 3; d++) {
    const low = Math.min(...frames.map(({ middle, half }) => middle[d] - half[d])), high = Math.max(...frames.map(({ middle, half }) => middle[d] + half[d]));
    [frame.middle[d], frame.half[d]] = [(low + high) / 2, (high - low) / 2];
  }
  return frame;
}

export function frameOf(positions, dims, box, present) {
  const n = positions.length / dims, step = Math.max(1, Math.floor(n / 5000));
  const frame = unitFrame();
  for (let d = 0; d < dims; d++) {
    const seen = [];
    for (let i = 0; i < n; i += step) if (!present || present[i]) seen.push(positions[i * dims + d]);
    seen.sort((a, b) => a - b);
    const at = (share) => seen[Math.min(seen.length - 1, Math.max(0, Math.round(share * (seen.length - 1))))] ?? 0;
    let [low, high] = [at(0), at(1)];
    const [inner, outer] = [at(0.005), at(0.995)], room = 0.15 * (outer - inner);
    if (high - low > 1.3 * (outer - inner + 2 * room)) [low, high] = [Math.max(low, inner - room), Math.min(high, outer + room)];
    const [a, b] = [low, high].map((u) => box[d][0] + (u / 65535) * (box[d][1] - box[d][0]));
    frame.middle[d] = (a + b) / 2;
    frame.half[d] = Math.max((b - a) / 2, 1e-9, 1e-6 * Math.abs(a));
  }
  return frame;
}
