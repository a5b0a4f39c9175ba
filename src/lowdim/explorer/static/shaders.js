// The programs that run on the graphics processor, in GLSL ES 3.00.

const PLACE = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 from;     // two positions of each row, 16 bits per coordinate, in their boxes
layout(location = 1) in vec3 to;
layout(location = 2) in float shade;   // index into the palette
layout(location = 3) in float faded;   // 1: outside of the selection
layout(location = 4) in float present; // 0: not on this map
uniform vec3 fromLow, fromSpan, toLow, toSpan;
uniform float blend;
uniform mat4 eye;
uniform sampler2D palette;             // alpha: over 0.5 in front; 0.25 and 0.75 are drawn as triangles

vec4 place() {
  return eye * vec4(mix(fromLow + from * fromSpan, toLow + to * toSpan, blend), 1.0);
}
vec4 look() {
  int i = int(shade);
  return texelFetch(palette, ivec2(i & 255, i >> 8), 0);
}
bool ahead(vec4 ink) { return faded < 0.5 && ink.a > 0.5; }
`;

export const POINT_VERTEX = `${PLACE}
uniform float radius, depth, opacity;  // radius in pixels of the screen; depth: 0 flat, 1 with perspective
uniform bool front;
uniform vec4 rest;                     // colour and opacity of what is not in front
out vec4 ink;
flat out float reach, corners;
void main() {
  vec4 q = place(), colour = look();
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = 1.0;
  if (present < 0.5 || ahead(colour) != front) return;
  corners = abs(abs(colour.a - 0.5) - 0.25) < 0.05 ? 1.0 : 0.0;
  reach = radius * mix(1.0, 1.0 / q.w, depth);
  float mist = depth * clamp((q.w - 1.0) * 0.55 + 0.15, 0.0, 0.75);
  float small = min(1.0, 0.35 + 0.65 * reach / 0.8); // points smaller than a pixel are paler instead
  ink = front ? vec4(mix(colour.rgb, rest.rgb, mist), opacity * small) : vec4(rest.rgb, rest.a * small);
  gl_Position = q;
  gl_PointSize = 2.0 * max(reach, 0.5) + 1.0;
}`;

export const POINT_FRAGMENT = `#version 300 es
precision highp float;
in vec4 ink;
flat in float reach, corners;
uniform float depth;
out vec4 pixel;
void main() {
  float r = max(reach, 0.5);
  vec2 c = (gl_PointCoord * 2.0 - 1.0) * (r + 0.5);
  float away = corners > 0.5 && r > 1.6
    ? max(c.y - 0.75 * r, (abs(c.x) - 0.56 * (c.y + r)) * 0.87)
    : length(c) - r;
  float cover = clamp(0.5 - away, 0.0, 1.0);
  if (cover * ink.a < 0.004 || (depth > 0.5 && cover < 0.5)) discard;
  float a = depth > 0.5 ? 1.0 : cover * ink.a;
  pixel = vec4(ink.rgb * a, a);
}`;

// Hover: every row within reach of the pointer is drawn to the one pixel of the target; the nearest of them remains.
export const PICK_VERTEX = `${PLACE}
uniform vec2 pointer, screen;
uniform float radius, depth;
flat out uint row;
void main() {
  vec4 q = place(), colour = look();
  vec2 at = (q.xy / q.w * 0.5 + 0.5) * screen;
  float away = distance(at, pointer) / radius;
  row = uint(gl_VertexID) + 1u;
  gl_PointSize = 1.0;
  bool seen = present > 0.5 && ahead(colour) && away < 1.0 && abs(q.z) <= q.w;
  float order = mix(away, q.z / q.w * 0.5 + 0.5 + away * 0.02, depth);
  gl_Position = seen ? vec4(0.0, 0.0, order * 1.9 - 0.95, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

export const PICK_FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
flat in uint row;
out uint pixel;
void main() { pixel = row; }`;

// Density: colours are added up in linear light, with their count; then shown by the logarithm of the count.
export const HEAP_FRAGMENT = `#version 300 es
precision highp float;
in vec4 ink;
flat in float reach, corners;
out vec4 pixel;
void main() {
  vec2 c = (gl_PointCoord * 2.0 - 1.0) * (max(reach, 0.5) + 0.5);
  float cover = clamp(0.5 + max(reach, 0.5) - length(c), 0.0, 1.0) * ink.a;
  pixel = vec4(pow(ink.rgb, vec3(2.2)) * cover, cover);
}`;

export const SCREEN_VERTEX = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

export const TONE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D heap;
uniform float full;
out vec4 pixel;
void main() {
  vec4 sum = texelFetch(heap, ivec2(gl_FragCoord.xy), 0);
  if (sum.a < 0.01) discard;
  float a = clamp(0.3 * min(sum.a, 1.0) + 0.7 * log(1.0 + sum.a) / log(1.0 + full), 0.0, 1.0);
  pixel = vec4(pow(sum.rgb / sum.a, vec3(1.0 / 2.2)) * a, a);
}`;

// The largest count in each block of the image, from which the scale is taken.
export const MOST_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D heap;
uniform ivec2 block, size;
out vec4 pixel;
void main() {
  ivec2 low = ivec2(gl_FragCoord.xy) * block;
  float most = 0.0;
  for (int y = 0; y < block.y; y++)
    for (int x = 0; x < block.x; x++) {
      ivec2 at = low + ivec2(x, y);
      if (at.x < size.x && at.y < size.y) most = max(most, texelFetch(heap, at, 0).a);
    }
  pixel = vec4(most);
}`;
