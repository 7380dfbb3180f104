// One shape on one canvas: drawing, projection, and finding the vertex under the pointer.
// The shape lies in the unit ball; the eye looks at its centre from a fixed distance, and zooming
// and panning act on the picture, so that the eye never passes through the surface.
"use strict";

class ShapeView {
  constructor(stage, shape) {
    this.stage = stage;
    this.canvas = stage.querySelector("canvas.shape");
    this.overlay = stage.querySelector("canvas.marks");
    this.gl = this.canvas.getContext("webgl2", { antialias: !drawnInSoftware(), alpha: true });
    if (!this.gl) throw new Error("WebGL2 is not available");
    this.home = shape.rotation.flat();
    this.positions = unpack(shape.positions, Float32Array);
    this.faces = unpack(shape.faces, Uint32Array);
    // Few triangles between the same vertices, for while a large shape moves.
    this.coarse = shape.coarse ? unpack(shape.coarse, Uint32Array) : new Uint32Array(0);
    this.moving = false;
    this.cut = this.fade = this.cells = this.swipe = 0; // see the shaders
    this.size = 1; // against the largest that fits, to compare two shapes
    this.shown = 0; // counts changes of colours
    this.texture = null;
    this.textured = false; // whether it is shown
    this.colours = {};
    for (const name in shape.colours) this.colours[name] = unpack(shape.colours[name], Uint8Array);
    this.reset();
    this.measure();
    this.prepare();
  }

  // Half the picture's height and width at the first view; the width holds for any rotation about
  // the vertical, so that a shape does not leave the frame when it is rotated.
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
    this.colourProgram = shaderProgram(gl, COLOUR_SHADER);
    this.depthProgram = shaderProgram(gl, DEPTH_SHADER);
    this.layout = gl.createVertexArray();
    this.buffers = [];
    gl.bindVertexArray(this.layout);
    const newBuffer = () => {
      this.buffers.push(gl.createBuffer());
      return this.buffers.at(-1);
    };
    const attribute = (slot, data, kind, normalised) => {
      const buffer = newBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, 3, kind, normalised, 0, 0);
      return buffer;
    };
    attribute(0, this.positions, gl.FLOAT, false);
    this.normals = smoothNormals(this.positions, this.faces);
    attribute(1, this.normals, gl.FLOAT, false);
    this.colourBuffer = attribute(2, new Uint8Array(this.positions.length), gl.UNSIGNED_BYTE, true);
    this.placeBuffer = newBuffer();
    this.otherBuffer = newBuffer();
    const triangles = new Uint32Array(this.faces.length + this.coarse.length);
    triangles.set(this.faces);
    triangles.set(this.coarse, this.faces.length);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, newBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    gl.enable(gl.DEPTH_TEST);
    this.depth = new DepthPicture(gl);
  }

  // `seams` and `images`: see texture.js.
  setTexture(seams, images) {
    this.texture = new Texture(this.gl, this, seams, images);
  }

  // Before another shape takes the canvas: its memory is the graphics card's.
  dispose() {
    const gl = this.gl;
    for (const buffer of this.buffers) gl.deleteBuffer(buffer);
    gl.deleteVertexArray(this.layout);
    gl.deleteProgram(this.colourProgram);
    gl.deleteProgram(this.depthProgram);
    this.depth.dispose();
    if (this.texture) this.texture.dispose();
  }

  // By the name of its colours; "texture" shows the texture, and its colours while the shape moves.
  show(name) {
    const gl = this.gl;
    this.shown += 1;
    this.textured = name === "texture" && this.texture !== null;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colourBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.colours[name], gl.STATIC_DRAW);
  }

  // Where a checker is fixed to: three numbers a vertex, NaN without a place.
  setPlaces(places) {
    this.fill(this.placeBuffer, 3, places, this.gl.FLOAT, false);
  }

  // Colours to swipe to.
  setOther(colours) {
    this.fill(this.otherBuffer, 4, colours, this.gl.UNSIGNED_BYTE, true);
  }

  fill(buffer, slot, data, kind, normalised) {
    const gl = this.gl;
    this.shown += 1;
    gl.bindVertexArray(this.layout);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribPointer(slot, 3, kind, normalised, 0, 0);
  }

  resize() {
    const dots = drawnInSoftware() ? 1 : Math.min(window.devicePixelRatio || 1, 2);
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
    const fit = 0.92 * this.zoom * this.size * Math.min(aspect / this.reach[0], 1 / this.reach[1]);
    return [fit / aspect, fit];
  }

  render(program, coarsely) {
    const gl = this.gl;
    const few = coarsely && this.coarse.length > 0 && drawnInSoftware();
    const textured = this.textured && !few && program === this.colourProgram;
    if (textured) program = this.texture.program;
    gl.useProgram(program);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    // The rotation is stored by rows, which is the transpose of what WebGL wants.
    gl.uniformMatrix3fv(gl.getUniformLocation(program, "rotation"), true, this.rotation);
    gl.uniform2fv(gl.getUniformLocation(program, "focal"), this.focal());
    gl.uniform2fv(gl.getUniformLocation(program, "pan"), this.pan);
    for (const name of ["cut", "fade", "cells", "swipe"]) gl.uniform1f(gl.getUniformLocation(program, name), this[name]);
    if (textured) this.texture.draw();
    gl.bindVertexArray(this.layout);
    if (!textured) {
      gl.drawElements(gl.TRIANGLES, few ? this.coarse.length : this.faces.length, gl.UNSIGNED_INT,
        few ? 4 * this.faces.length : 0);
    }
  }

  // Equal for equal pictures, so that a change of marks alone need not draw the shape again.
  pictureKey() {
    this.resize();
    return [this.width, this.height, this.dots, this.moving, this.shown, this.zoom, this.pan, this.rotation,
      this.cut, this.fade, this.cells, this.swipe, this.size].join();
  }

  draw() {
    const gl = this.gl;
    this.resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    this.render(this.colourProgram, this.moving);
  }

  // The depth picture of the camera as it is now.
  readDepth() {
    if (this.depthIsOld) this.depth.read(this.width, this.height, () => this.render(this.depthProgram, true));
    this.depthIsOld = false;
    return this.depth;
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
    const front = this.readDepth().at(Math.floor(x * DEPTH_SCALE), Math.floor(y * DEPTH_SCALE));
    return { x, y, hidden: front !== null && away > front + 0.02 * (FAR - NEAR) };
  }

  // The place on the surface at, or within a finger's tip of, a place on the page; null if none.
  surfaceNear(x, y) {
    const depth = this.readDepth(), column = Math.floor(x * DEPTH_SCALE), row = Math.floor(y * DEPTH_SCALE);
    let found = null, closest = Infinity;
    for (let i = -4; i <= 4; i++) {
      for (let j = -4; j <= 4; j++) {
        if (i * i + j * j >= closest) continue;
        const away = depth.at(column + i, row + j);
        if (away !== null) [found, closest] = [[column + i, row + j, away], i * i + j * j];
      }
    }
    if (!found) return null;
    return {
      x: ((found[0] + 0.5) / depth.width) * this.width,
      y: ((found[1] + 0.5) / depth.height) * this.height,
      away: found[2],
      exact: closest === 0,
    };
  }

  // The vertex nearest to the surface at (or near) a place on the page; -1 if there is none.
  pick(x, y) {
    const found = this.surfaceNear(x, y);
    if (!found) return -1;
    const { origin, direction } = this.ray(found.x, found.y);
    const left = found.away - (this.cut ? NEAR + this.cut * (FAR - NEAR) : 0);
    const point = origin.map((start, i) => start + left * direction[i]);
    let best = -1, least = Infinity;
    for (let i = 0, at = 0; at < this.positions.length; i++, at += 3) {
      const gap = (this.positions[at] - point[0]) ** 2 + (this.positions[at + 1] - point[1]) ** 2
        + (this.positions[at + 2] - point[2]) ** 2;
      if (gap < least) [best, least] = [i, gap];
    }
    return best;
  }

  // The ray through a place on the page, in the shape's coordinates.
  ray(x, y) {
    const [fx, fy] = this.focal(), r = this.rotation;
    const back = (v) => [0, 1, 2].map((i) => r[i] * v[0] + r[i + 3] * v[1] + r[i + 6] * v[2]);
    const right = ((2 * x) / this.width - 1 - this.pan[0]) / fx;
    const up = (1 - (2 * y) / this.height - this.pan[1]) / fy;
    const direction = back([right, up, -1]), skipped = this.cut ? NEAR + this.cut * (FAR - NEAR) : 0;
    return { origin: back([0, 0, EYE]).map((start, i) => start + skipped * direction[i]), direction };
  }

  rotate(aboutUp, aboutRight) {
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

  // Pixels that a length of 1 in the shape's own unit has in the middle of the picture.
  pixelsPerUnit(radius) {
    return (0.5 * this.height * this.focal()[1]) / (EYE * radius);
  }

  // Cut away what lies in front of a point.
  cutAt(point) {
    const r = this.rotation, depth = r[6] * point[0] + r[7] * point[1] + r[8] * point[2];
    this.cut = Math.max(0, (EYE - depth - 0.01 - NEAR) / (FAR - NEAR));
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
