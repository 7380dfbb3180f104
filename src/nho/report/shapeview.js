// One shape on one canvas: drawing, projection, and finding the vertex under the pointer.
// The shape lies in the unit ball; the eye looks at its centre from a fixed distance, and zooming
// and panning act on the picture, so that the eye never passes through the surface.
"use strict";

const EYE = 4;
const NEAR = EYE - 1.1, FAR = EYE + 1.1;
const DEPTH_SCALE = 0.5; // size of the depth picture against the page's pixels

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

function unpack(text, Kind) {
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

class ShapeView {
  constructor(stage, shape) {
    this.stage = stage;
    this.canvas = stage.querySelector("canvas.shape");
    this.overlay = stage.querySelector("canvas.marks");
    this.gl = this.canvas.getContext("webgl2", { antialias: true, alpha: true });
    if (!this.gl) throw new Error("WebGL2 is not available");
    this.home = shape.rotation.flat();
    this.positions = unpack(shape.positions, Float32Array);
    this.faces = unpack(shape.faces, Uint32Array);
    this.colours = {};
    for (const name in shape.colours) this.colours[name] = unpack(shape.colours[name], Uint8Array);
    this.reset();
    this.measure();
    this.prepare();
  }

  // Half the picture's height and width at the first view; the width holds for any turn about
  // the vertical, so that a shape does not leave the frame when it is turned.
  measure() {
    const r = this.home, at = this.positions;
    this.reach = [0.01, 0.01];
    for (const index of this.faces) {
      const i = 3 * index;
      const [x, y, z] = [0, 3, 6].map(
        (k) => r[k] * at[i] + r[k + 1] * at[i + 1] + r[k + 2] * at[i + 2]);
      this.reach[0] = Math.max(this.reach[0], Math.hypot(x, z) / EYE);
      this.reach[1] = Math.max(this.reach[1], Math.abs(y) / (EYE - z));
    }
  }

  reset() {
    this.rotation = this.home.slice();
    this.pan = [0, 0];
    this.zoom = 1;
    this.depthIsOld = true;
  }

  prepare() {
    const gl = this.gl;
    const compile = (kind, source) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      return shader;
    };
    const link = (fragment) => {
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
    };
    this.colourProgram = link(COLOUR_SHADER);
    this.depthProgram = link(DEPTH_SHADER);
    gl.bindVertexArray(gl.createVertexArray());
    const attribute = (slot, data, kind, normalised) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, 3, kind, normalised, 0, 0);
      return buffer;
    };
    attribute(0, this.positions, gl.FLOAT, false);
    attribute(1, smoothNormals(this.positions, this.faces), gl.FLOAT, false);
    this.colourBuffer = attribute(2, new Uint8Array(this.positions.length), gl.UNSIGNED_BYTE, true);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.faces, gl.STATIC_DRAW);
    gl.enable(gl.DEPTH_TEST);
    this.depthTarget = gl.createFramebuffer();
    this.depthColour = gl.createRenderbuffer();
    this.depthBuffer = gl.createRenderbuffer();
  }

  show(name) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colourBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.colours[name], gl.STATIC_DRAW);
  }

  resize() {
    const dots = Math.min(window.devicePixelRatio || 1, 2);
    this.width = Math.max(this.stage.clientWidth, 1);
    this.height = Math.max(this.stage.clientHeight, 1);
    for (const canvas of [this.canvas, this.overlay]) {
      const size = [Math.round(this.width * dots), Math.round(this.height * dots)];
      if (canvas.width !== size[0] || canvas.height !== size[1]) {
        [canvas.width, canvas.height] = size;
        this.depthIsOld = true;
      }
    }
    this.dots = dots;
  }

  focal() {
    const aspect = this.width / this.height;
    const fit = 0.92 * this.zoom * Math.min(aspect / this.reach[0], 1 / this.reach[1]);
    return [fit / aspect, fit];
  }

  render(program) {
    const gl = this.gl;
    gl.useProgram(program);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    // The rotation is stored by rows, which is the transpose of what WebGL wants.
    gl.uniformMatrix3fv(gl.getUniformLocation(program, "rotation"), true, this.rotation);
    gl.uniform2fv(gl.getUniformLocation(program, "focal"), this.focal());
    gl.uniform2fv(gl.getUniformLocation(program, "pan"), this.pan);
    gl.drawElements(gl.TRIANGLES, this.faces.length, gl.UNSIGNED_INT, 0);
  }

  draw() {
    const gl = this.gl;
    this.resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    this.render(this.colourProgram);
  }

  // A small picture of distances, read back once per camera: it tells what hides what.
  readDepth() {
    if (!this.depthIsOld) return;
    const gl = this.gl;
    const width = (this.depthWidth = Math.max(1, Math.round(this.width * DEPTH_SCALE)));
    const height = (this.depthHeight = Math.max(1, Math.round(this.height * DEPTH_SCALE)));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.depthTarget);
    for (const [buffer, format, slot] of [
      [this.depthColour, gl.RGBA8, gl.COLOR_ATTACHMENT0],
      [this.depthBuffer, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT],
    ]) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, slot, gl.RENDERBUFFER, buffer);
    }
    gl.viewport(0, 0, width, height);
    this.render(this.depthProgram);
    this.depthPixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, this.depthPixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.depthIsOld = false;
  }

  depthAt(column, row) {
    if (column < 0 || row < 0 || column >= this.depthWidth || row >= this.depthHeight) return null;
    const at = 4 * ((this.depthHeight - 1 - row) * this.depthWidth + column);
    const pixel = this.depthPixels;
    if (pixel[at + 3] === 0) return null;
    const share = (pixel[at] + pixel[at + 1] / 255 + pixel[at + 2] / 65025) / 255;
    return NEAR + share * (FAR - NEAR);
  }

  vertex(index) {
    return this.positions.subarray(3 * index, 3 * index + 3);
  }

  // Place of a point on the page's pixels of this view, and whether the surface hides it.
  project(point) {
    const r = this.rotation, [fx, fy] = this.focal();
    const seen = [0, 3, 6].map((i) => r[i] * point[0] + r[i + 1] * point[1] + r[i + 2] * point[2]);
    const away = EYE - seen[2];
    const x = (0.5 + 0.5 * ((fx * seen[0]) / away + this.pan[0])) * this.width;
    const y = (0.5 - 0.5 * ((fy * seen[1]) / away + this.pan[1])) * this.height;
    this.readDepth();
    const front = this.depthAt(Math.floor(x * DEPTH_SCALE), Math.floor(y * DEPTH_SCALE));
    return { x, y, hidden: front !== null && away > front + 0.02 * (FAR - NEAR) };
  }

  // The vertex nearest to the surface point at (or within a finger's tip of) a place on the page.
  pick(x, y) {
    this.readDepth();
    const column = Math.floor(x * DEPTH_SCALE), row = Math.floor(y * DEPTH_SCALE);
    let found = null, closest = Infinity;
    for (let i = -4; i <= 4; i++) {
      for (let j = -4; j <= 4; j++) {
        if (i * i + j * j >= closest) continue;
        const away = this.depthAt(column + i, row + j);
        if (away !== null) [found, closest] = [[column + i, row + j, away], i * i + j * j];
      }
    }
    if (!found) return -1;
    const [fx, fy] = this.focal(), r = this.rotation, away = found[2];
    const right = ((2 * (found[0] + 0.5)) / this.depthWidth - 1 - this.pan[0]) * (away / fx);
    const up = (1 - (2 * (found[1] + 0.5)) / this.depthHeight - this.pan[1]) * (away / fy);
    const seen = [right, up, EYE - away];
    const point = [0, 1, 2].map((i) => r[i] * seen[0] + r[i + 3] * seen[1] + r[i + 6] * seen[2]);
    let best = -1, least = Infinity;
    for (let i = 0, at = 0; at < this.positions.length; i++, at += 3) {
      const gap = (this.positions[at] - point[0]) ** 2 + (this.positions[at + 1] - point[1]) ** 2
        + (this.positions[at + 2] - point[2]) ** 2;
      if (gap < least) [best, least] = [i, gap];
    }
    return best;
  }

  turn(aboutUp, aboutRight) {
    const c = Math.cos(aboutUp), s = Math.sin(aboutUp);
    const d = Math.cos(aboutRight), t = Math.sin(aboutRight);
    const step = [c, 0, s, s * t, d, -c * t, -s * d, t, c * d];
    const old = this.rotation;
    this.rotation = step.map((_, i) => {
      const row = 3 * Math.floor(i / 3), column = i % 3;
      return [0, 1, 2].reduce((sum, k) => sum + step[row + k] * old[column + 3 * k], 0);
    });
    this.depthIsOld = true;
  }

  // Zoom about a place given in [-1, 1] coordinates, which stays where it is.
  magnify(factor, centre) {
    const zoom = Math.min(Math.max(this.zoom * factor, 0.3), 40);
    this.pan = this.pan.map((value, i) => centre[i] + (value - centre[i]) * (zoom / this.zoom));
    this.zoom = zoom;
    this.depthIsOld = true;
  }

  shift(right, up) {
    this.pan = [this.pan[0] + right, this.pan[1] + up];
    this.depthIsOld = true;
  }
}
