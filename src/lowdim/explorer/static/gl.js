// The renderer: one WebGL2 context draws the points of all views, each of which copies its image to its own canvas.
import { POINT_VERTEX, POINT_FRAGMENT, PICK_VERTEX, PICK_FRAGMENT, HEAP_FRAGMENT, SCREEN_VERTEX, TONE_FRAGMENT, MOST_FRAGMENT } from "./shaders.js";

const BLOCKS = 32; // along each side, from whose counts the scale of a density is taken
export const DENSE_ROWS = 2_000_000; // from here on points are shown as a density

export class Painter {
  // `n` rows; throws where there is no WebGL2.
  constructor(n) {
    this.n = n;
    this.canvas = document.createElement("canvas");
    this.clouds = new Set();
    this.inks = new Set();
    this.onrestored = () => {};
    const options = { antialias: false, premultipliedAlpha: true, powerPreference: "high-performance" };
    this.gl = this.canvas.getContext("webgl2", options);
    if (!this.gl) throw new Error("This browser has no WebGL2.");
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.build();
      for (const one of [...this.clouds, ...this.inks]) one.upload();
      this.onrestored();
    });
    this.build();
  }

  get lost() { return this.gl.isContextLost(); }

  build() {
    const gl = this.gl;
    this.floats = gl.getExtension("EXT_color_buffer_float") && gl.getExtension("EXT_float_blend") ? gl.RGBA32F
      : gl.getExtension("EXT_color_buffer_half_float") || gl.getExtension("EXT_color_buffer_float") ? gl.RGBA16F : 0;
    this.points = this.program(POINT_VERTEX, POINT_FRAGMENT);
    this.picking = this.program(PICK_VERTEX, PICK_FRAGMENT);
    this.order = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shuffledRows(this.n), gl.STATIC_DRAW);
    this.flags = gl.createBuffer();
    this.setFaded(this.faded ?? null);
    this.spot = this.target(1, 1, gl.R32UI, true); // the one pixel that rows under the pointer are drawn to
    this.heap = this.blocks = null;
    this.dense = null;
  }

  program(vertex, fragment) {
    const gl = this.gl, made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(`A shader was refused: ${gl.getProgramInfoLog(made)}`);
    const uniforms = {};
    for (let i = 0; i < (gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS) || 0); i++) {
      const { name } = gl.getActiveUniform(made, i);
      uniforms[name] = gl.getUniformLocation(made, name);
    }
    return { made, uniforms };
  }

  target(width, height, format, depth) {
    const gl = this.gl, made = { width, height, frame: gl.createFramebuffer(), texture: gl.createTexture() };
    gl.bindTexture(gl.TEXTURE_2D, made.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, made.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, made.texture, 0);
    if (depth) {
      made.depth = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, made.depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, made.depth);
    }
    return made;
  }

  // Which rows are greyed: one byte per row, 1 for those outside of the selection; null for none.
  setFaded(bytes) {
    const gl = this.gl;
    this.faded = bytes;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flags);
    if (bytes) gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
  }

  // Draws a cloud into the lower left corner of the canvas. `how`: eye (4×4), solid, width, height (pixels of the
  // screen), radius, opacity, rest (four numbers), blend, density.
  draw(cloud, ink, how) {
    const gl = this.gl, { width, height } = how;
    if (this.canvas.width < width || this.canvas.height < height) {
      this.canvas.width = Math.max(width, this.canvas.width);
      this.canvas.height = Math.max(height, this.canvas.height);
    }
    const density = how.density && this.floats;
    if (density) this.dense ??= [POINT_VERTEX, SCREEN_VERTEX, SCREEN_VERTEX].map((vertex, i) =>
      this.program(vertex, [HEAP_FRAGMENT, TONE_FRAGMENT, MOST_FRAGMENT][i]));
    if (density && (this.heap?.width !== width || this.heap?.height !== height)) {
      if (this.heap) { gl.deleteTexture(this.heap.texture); gl.deleteFramebuffer(this.heap.frame); }
      this.heap = this.target(width, height, this.floats, false);
      this.blocks ??= this.target(BLOCKS, BLOCKS, this.floats, false);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, density ? this.heap.frame : null);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!cloud.count) return;
    const depth = how.solid && !density;
    gl[depth ? "enable" : "disable"](gl.DEPTH_TEST);
    gl[depth ? "disable" : "enable"](gl.BLEND);
    gl.blendFunc(gl.ONE, density ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA);
    const { made, uniforms } = density ? this.dense[0] : this.points;
    gl.useProgram(made);
    this.bind(cloud, ink, how, uniforms);
    gl.uniform1f(uniforms.radius, density ? Math.min(how.radius, 1.2) : how.radius);
    gl.uniform1f(uniforms.opacity, density ? 1 : how.opacity);
    gl.uniform4f(uniforms.rest, ...how.rest.slice(0, 3), density ? 0.04 : how.rest[3]);
    const behind = this.faded || ink.filtered;
    for (const front of behind ? [0, 1] : [1]) {
      gl.uniform1i(uniforms.front, front);
      gl.drawElements(gl.POINTS, this.n, gl.UNSIGNED_INT, 0);
    }
    if (density) this.tone(width, height);
  }

  tone(width, height) {
    const gl = this.gl, [, tone, most] = this.dense;
    gl.disable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    gl.bindTexture(gl.TEXTURE_2D, this.heap.texture);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.blocks.frame);
    gl.viewport(0, 0, BLOCKS, BLOCKS);
    gl.useProgram(most.made);
    gl.uniform2i(most.uniforms.block, Math.ceil(width / BLOCKS), Math.ceil(height / BLOCKS));
    gl.uniform2i(most.uniforms.size, width, height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    const read = new Float32Array(4 * BLOCKS * BLOCKS);
    gl.readPixels(0, 0, BLOCKS, BLOCKS, gl.RGBA, gl.FLOAT, read);
    const counts = read.filter((count, i) => i % 4 === 3 && count > 0).sort();
    const full = counts.length ? Math.max(counts[Math.floor(0.95 * (counts.length - 1))], 2) : 2;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(tone.made);
    gl.uniform1f(tone.uniforms.full, full);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // The row in front that is nearest to a position of the screen (pixels from the lower left), or -1.
  pick(cloud, ink, how, x, y, reach) {
    if (!cloud.count || this.lost) return -1;
    const gl = this.gl, { made, uniforms } = this.picking;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.spot.frame);
    gl.viewport(0, 0, 1, 1);
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.clearBufferuiv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(made);
    this.bind(cloud, ink, how, uniforms);
    gl.uniform2f(uniforms.pointer, x, y);
    gl.uniform2f(uniforms.screen, how.width, how.height);
    gl.uniform1f(uniforms.radius, reach);
    gl.drawArrays(gl.POINTS, 0, this.n);
    const found = new Uint32Array(1);
    gl.readPixels(0, 0, 1, 1, gl.RED_INTEGER, gl.UNSIGNED_INT, found);
    return found[0] - 1;
  }

  bind(cloud, ink, how, uniforms) {
    const gl = this.gl;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    const attribute = (at, buffer, size, kind, normal) => {
      if (!buffer) { gl.disableVertexAttribArray(at); return; }
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, kind, normal, 0, 0);
    };
    attribute(0, cloud.buffers[0], cloud.dims, gl.UNSIGNED_SHORT, true);
    attribute(1, cloud.buffers[1], cloud.dims, gl.UNSIGNED_SHORT, true);
    attribute(2, ink.buffer, 1, gl.UNSIGNED_SHORT, false);
    attribute(3, this.faded ? this.flags : null, 1, gl.UNSIGNED_BYTE, false);
    attribute(4, cloud.present ? cloud.mask : null, 1, gl.UNSIGNED_BYTE, false);
    gl.vertexAttrib1f(2, 0);
    gl.vertexAttrib1f(3, 0);
    gl.vertexAttrib1f(4, 1);
    for (const [i, name] of ["from", "to"].entries()) {
      const box = cloud.boxes[i];
      gl.uniform3f(uniforms[`${name}Low`], box[0][0], box[1][0], box[2] ? box[2][0] : 0);
      gl.uniform3f(uniforms[`${name}Span`], box[0][1] - box[0][0], box[1][1] - box[1][0], box[2] ? box[2][1] - box[2][0] : 0);
    }
    gl.uniform1f(uniforms.blend, how.blend);
    gl.uniform1f(uniforms.depth, how.solid ? 1 : 0);
    gl.uniformMatrix4fv(uniforms.eye, false, how.eye);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, ink.texture);
    gl.uniform1i(uniforms.palette, 0);
  }
}

// The positions of all rows on one map: the previous and the next.
export class Cloud {
  constructor(painter, dims) {
    Object.assign(this, { painter, dims, count: 0, present: null, places: [null, null], boxes: [null, null] });
    painter?.clouds.add(this);
    this.upload();
  }

  upload() {
    const gl = this.painter?.gl;
    if (!gl) return;
    this.buffers = this.places.map((values) => filled(gl, gl.createBuffer(), values));
    this.mask = filled(gl, gl.createBuffer(), this.present);
  }

  // A new frame: `positions` are u16, `box` says where 0 and 65535 lie, `present` has a byte per row or is null.
  push(positions, box, present) {
    if (this.count) {
      this.places.reverse();
      this.boxes.reverse();
      this.buffers?.reverse();
      this.write(1, positions, box);
    } else {
      this.write(0, positions, box);
      this.write(1, positions, box);
    }
    this.count = positions.length / this.dims;
    this.present = present;
    if (this.painter) filled(this.painter.gl, this.mask, present);
  }

  write(i, positions, box) {
    this.places[i] = positions;
    this.boxes[i] = box;
    if (this.painter) filled(this.painter.gl, this.buffers[i], positions);
  }

  // Rows move to their places from those of another cloud; rows that it lacks appear at theirs.
  from(other) {
    const { dims } = this, box = this.boxes[1].map(([low, high], d) => [Math.min(low, other.boxes[1][d][0]), Math.max(high, other.boxes[1][d][1])]);
    const values = new Uint16Array(this.count * dims), place = [0, 0, 0];
    for (let row = 0; row < this.count; row++) {
      (other.has(row) ? other : this).at(row, 1, place);
      for (let d = 0; d < dims; d++) values[row * dims + d] = Math.round((65535 * (place[d] - box[d][0])) / (box[d][1] - box[d][0] || 1));
    }
    this.write(0, values, box);
  }

  has(row) { return this.count > 0 && (!this.present || this.present[row] === 1); }

  // Where a row is drawn: x, y (and z) of the data.
  at(row, blend, out = [0, 0, 0]) {
    for (let d = 0; d < this.dims; d++) {
      const i = row * this.dims + d, [a, b] = this.boxes;
      const from = a[d][0] + (this.places[0][i] / 65535) * (a[d][1] - a[d][0]);
      out[d] = from + blend * (b[d][0] + (this.places[1][i] / 65535) * (b[d][1] - b[d][0]) - from);
    }
    return out;
  }

  forget() {
    const gl = this.painter?.gl;
    if (gl) for (const buffer of [...this.buffers, this.mask]) gl.deleteBuffer(buffer);
    this.painter?.clouds.delete(this);
    this.count = 0;
  }
}

// A colouring: for each row an index into a palette of up to 65,536 colours.
export class Ink {
  constructor(painter) {
    Object.assign(this, { painter, shades: null, palette: new Uint8Array(4), filtered: false });
    painter?.inks.add(this);
    this.upload();
  }

  upload() {
    const gl = this.painter?.gl;
    if (!gl) return;
    this.texture = gl.createTexture();
    this.buffer = null;
    this.setPalette(this.palette);
    if (this.shades) this.setShades(this.shades);
  }

  setShades(values) {
    this.shades = values;
    const gl = this.painter?.gl;
    if (gl) this.buffer = values && filled(gl, this.buffer ?? gl.createBuffer(), values);
  }

  // Four bytes per colour; those of an alpha below 128 (0, or 64 for triangles) are greyed.
  setPalette(rgba) {
    this.palette = rgba;
    this.filtered = rgba.some((value, i) => i % 4 === 3 && value < 128);
    const gl = this.painter?.gl;
    if (!gl) return;
    const high = Math.max(1, Math.ceil(rgba.length / 1024)), whole = new Uint8Array(1024 * high);
    whole.set(rgba);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, high, 0, gl.RGBA, gl.UNSIGNED_BYTE, whole);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  // Colour of a row as CSS writes it, and whether the legend greys it.
  css(row) {
    const i = 4 * (this.shades ? this.shades[row] : 0);
    return `rgb(${this.palette[i]},${this.palette[i + 1]},${this.palette[i + 2]})`;
  }
  greyed(row) { return this.filtered && this.palette[4 * (this.shades ? this.shades[row] : 0) + 3] < 128; }
}

function filled(gl, buffer, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  if (values) gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  return buffer;
}

// All rows in a fixed random order, so that no class is drawn over another.
export function shuffledRows(count) {
  const list = new Uint32Array(count);
  let seed = 1;
  for (let i = 0; i < count; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 4294967296) * (i + 1));
    list[i] = list[j];
    list[j] = i;
  }
  return list;
}
