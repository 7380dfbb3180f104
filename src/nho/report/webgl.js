// What drawing a surface needs of WebGL: shaders, normals, packed numbers.
// The shape lies in the unit ball, and the eye looks at its centre from a fixed distance.
"use strict";

const EYE = 4;
const NEAR = EYE - 1.1, FAR = EYE + 1.1;

const VERTEX_SHADER = `#version 300 es
in vec3 position; in vec3 normal; in vec3 colour; in vec3 place; in vec3 other;
uniform mat3 rotation; uniform vec2 focal; uniform vec2 pan;
out vec3 shade; out vec3 facing; out vec3 cell; out vec3 second; out float away;
void main() {
  vec3 seen = rotation * position;
  away = ${EYE.toFixed(6)} - seen.z;
  float depth = ${((FAR + NEAR) / (FAR - NEAR)).toFixed(6)} * away
    - ${((2 * FAR * NEAR) / (FAR - NEAR)).toFixed(6)};
  gl_Position = vec4(focal * seen.xy + pan * away, depth, away);
  shade = colour; facing = rotation * normal; cell = place; second = other;
}`;

// A uniform that is never set is 0, which switches off what it stands for: `cut` is the share of the
// depth that is cut away in front, `fade` that of the pixels that are left out, `cells` the number of
// checker cells along the unit of `place`, `swipe` the column from which on the other colours show.
const CUT = `if (away < ${NEAR.toFixed(6)} + cut * ${(FAR - NEAR).toFixed(6)}) discard;`;

// `base` says in GLSL which colour the surface has, before it is lit.
const surfaceShader = (declared, base) => `#version 300 es
precision highp float;
in vec3 shade; in vec3 facing; in vec3 cell; in vec3 second; in float away;
uniform float cut; uniform float fade; uniform float cells; uniform float swipe;
${declared}
out vec4 result;
void main() {
  ${CUT}
  // Left-out pixels need no order of drawing, as blending would.
  if (fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) < fade) discard;
  vec3 n = normalize(facing);
  if (n.z < 0.0) n = -n; // both sides of an open surface are lit
  float key = max(dot(n, normalize(vec3(-0.45, 0.65, 0.9))), 0.0);
  float light = 0.50 + 0.42 * key + 0.14 * n.z;
  vec3 base = ${base};
  result = vec4(min(base * light, 1.0), 1.0);
}`;

const COLOUR_SHADER = surfaceShader(`
float checker(vec3 parts) {
  return cells > 0.0 && mod(parts.x + parts.y + parts.z, 2.0) > 0.5 ? 0.55 : 1.0;
}`, "(swipe > 0.0 && gl_FragCoord.x > swipe ? second : shade) * checker(floor(cell * cells))");

// Images are stored from the top, texture coordinates count from the bottom.
const TEXTURE_SHADER = surfaceShader(
  "uniform sampler2D image;", "texture(image, vec2(cell.x, 1.0 - cell.y)).rgb");

const DEPTH_SHADER = `#version 300 es
precision highp float;
in vec3 shade; in vec3 facing; in vec3 cell; in vec3 second; in float away;
uniform float cut;
out vec4 result;
void main() {
  ${CUT}
  float depth = clamp((away - ${NEAR.toFixed(6)}) / ${(FAR - NEAR).toFixed(6)}, 0.0, 0.9999);
  vec3 parts = fract(depth * vec3(1.0, 255.0, 65025.0));
  result = vec4(parts - parts.yzz * vec3(1.0 / 255.0, 1.0 / 255.0, 0.0), 1.0);
}`;

// Numbers come as base64 inside a page, or as they are from a server.
function unpack(text, Kind) {
  if (typeof text !== "string") return new Kind(text);
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

function smoothNormals(positions, faces) {
  const normals = new Float32Array(positions.length);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
    const u = [0, 1, 2].map((i) => positions[b + i] - positions[a + i]);
    const v = [0, 1, 2].map((i) => positions[c + i] - positions[a + i]);
    for (const corner of [a, b, c]) {
      normals[corner] += u[1] * v[2] - u[2] * v[1];
      normals[corner + 1] += u[2] * v[0] - u[0] * v[2];
      normals[corner + 2] += u[0] * v[1] - u[1] * v[0];
    }
  }
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
    for (let j = 0; j < 3; j++) normals[i + j] /= length; // tiny faces: do not leave it to float32
  }
  return normals;
}

function shaderProgram(gl, fragment) {
  const compile = (kind, source) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  };
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl.VERTEX_SHADER, VERTEX_SHADER));
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, fragment));
  ["position", "normal", "colour", "place", "other"].forEach((name, slot) => {
    gl.bindAttribLocation(program, slot, name);
  });
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error("shader: " + gl.getProgramInfoLog(program));
  }
  return program;
}

// Without a graphics card every triangle costs microseconds and smooth edges three times that.
let software = null;
function drawnInSoftware() {
  if (software === null) {
    const gl = document.createElement("canvas").getContext("webgl2");
    const named = gl && gl.getExtension("WEBGL_debug_renderer_info");
    const name = gl ? gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : "";
    software = /swiftshader|llvmpipe|software|basic render/i.test(name);
    if (gl) gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return software;
}
