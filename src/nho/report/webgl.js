// What drawing a surface needs of WebGL: shaders, normals, packed numbers.
// The shape lies in the unit ball, and the eye looks at its centre from a fixed distance.
"use strict";

const EYE = 4;
const NEAR = EYE - 1.1, FAR = EYE + 1.1;

const VERTEX_SHADER = `#version 300 es
in vec3 position; in vec3 normal; in vec3 colour;
uniform mat3 rotation; uniform vec2 focal; uniform vec2 pan;
out vec3 shade; out vec3 facing; out float away;
void main() {
  vec3 seen = rotation * position;
  away = ${EYE.toFixed(6)} - seen.z;
  float depth = ${((FAR + NEAR) / (FAR - NEAR)).toFixed(6)} * away
    - ${((2 * FAR * NEAR) / (FAR - NEAR)).toFixed(6)};
  gl_Position = vec4(focal * seen.xy + pan * away, depth, away);
  shade = colour; facing = rotation * normal;
}`;

const COLOUR_SHADER = `#version 300 es
precision highp float;
in vec3 shade; in vec3 facing; in float away;
out vec4 result;
void main() {
  vec3 n = normalize(facing);
  if (n.z < 0.0) n = -n; // both sides of an open surface are lit
  float key = max(dot(n, normalize(vec3(-0.45, 0.65, 0.9))), 0.0);
  float light = 0.50 + 0.42 * key + 0.14 * n.z;
  result = vec4(min(shade * light, 1.0), 1.0);
}`;

const DEPTH_SHADER = `#version 300 es
precision highp float;
in vec3 shade; in vec3 facing; in float away;
out vec4 result;
void main() {
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
  ["position", "normal", "colour"].forEach((name, slot) => {
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
