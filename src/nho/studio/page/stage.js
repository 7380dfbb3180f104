// One shape with its marks: clicks place them, drags move them, everything else rotates the shape.
"use strict";

const REACH = 12; // pixels around a mark that belong to it
const FINGER = 20; // the same for a finger
const STILL = 4; // pixels a pointer may move in a click
const SETTLING = 160; // milliseconds without movement before a large shape is drawn whole

// All hues but red, which means a suspect.
function markColour(key) {
  return `hsl(${30 + ((200 + 137.5 * key) % 360) * (300 / 360)} 62% 40%)`;
}

class Stage {
  // `page` offers: marksOn(side), isHighlighted(key), moveCamera(side, change), click(side, ray),
  // drag(key, side, ray), choose(key), press(mark, side), pointAt(key), pointed(), hover(side, row),
  // drawOver(pen, stage), update().
  constructor(side, page, root = document) {
    this.side = side;
    this.page = page;
    this.box = root.querySelector(`.stage[data-shape="${side}"]`);
    this.overlay = this.box.querySelector("canvas.marks");
    this.view = null;
    this.version = 0;
    this.ring = null; // a place in the shape's coordinates that is pointed at
    this.dragged = null; // a mark on its way: {key, x, y}
    this.planned = false;
    this.drawn = ""; // key of the picture on the canvas
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  async load(shape) {
    const array = (name, Kind) => server.numbers(`mesh/${this.side}/${name}?version=${shape.version}`, Kind);
    const [own, ...arrays] = await Promise.all([
      shape.painted ? array("own", Uint8Array) : null,
      array("positions", Float32Array), array("faces", Uint32Array),
      array("coarse", Uint32Array), array("number", Uint32Array),
    ]);
    this.take(shape, ...arrays);
    this.own = own; // colours of the file itself
    if (shape.images.length) await this.loadTexture(shape, array);
  }

  async loadTexture(shape, array) {
    const largest = Math.min(LARGEST_IMAGE, this.view.gl.getParameter(this.view.gl.MAX_TEXTURE_SIZE));
    const image = async (about, number) => {
      const answer = await server.ask(`mesh/${this.side}/image/${number}?version=${shape.version}`);
      return decodedImage(await answer.blob(), about, largest);
    };
    const [vertex, faces, uv, ...images] = await Promise.all([
      array("seamVertex", Uint32Array), array("seamFaces", Uint32Array), array("uv", Float32Array),
      ...shape.images.map(image),
    ]);
    if (shape.version !== this.version) return; // another shape has come meanwhile
    this.view.setTexture({ vertex, uv, faces, counts: shape.images.map(({ faces: count }) => count) }, images);
    this.view.colours.texture = this.own || this.view.colours.plain;
  }

  take(shape, positions, faces, coarse, number) {
    if (this.view) this.view.dispose();
    this.view = new ShapeView(this.box, { positions, faces, coarse, rotation: shape.rotation, colours: {} });
    this.number = number;
    const plain = new Uint8Array(positions.length);
    for (let i = 0; i < plain.length; i += 3) plain.set([205, 201, 193], i);
    this.view.colours.plain = this.view.colours.shape = plain;
    this.checked = 0; // result that its checker belongs to
    this.view.show("shape");
    this.ring = null;
    this.drawn = "";
    this.version = shape.version;
    this.draw();
  }

  show(name, colours) {
    if (!this.view) return;
    if (colours) this.view.colours[name] = colours;
    this.view.show(name);
    this.draw();
  }

  // ---- drawing ------------------------------------------------------------------------------
  draw() {
    if (!this.planned) requestAnimationFrame(() => this.drawNow());
    this.planned = true;
  }

  drawNow() {
    this.planned = false;
    if (!this.view) return;
    const picture = this.view.pictureKey();
    if (picture !== this.drawn) this.view.draw();
    this.drawn = picture;
    this.drawMarks();
  }

  // While a large shape moves, few of its triangles are drawn.
  cameraMoved() {
    this.view.moving = true;
    this.ring = null; // the pointer is no longer there
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.view.moving = false;
      this.draw();
    }, SETTLING);
    this.draw();
  }

  places() {
    return this.page.marksOn(this.side).map((mark) => {
      const dragged = this.dragged && this.dragged.key === mark.key;
      const at = dragged ? { x: this.dragged.x, y: this.dragged.y, hidden: false }
        : this.view.project(mark.at);
      return { ...mark, ...at };
    });
  }

  drawMarks() {
    const view = this.view, pen = this.overlay.getContext("2d");
    pen.setTransform(view.dots, 0, 0, view.dots, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    const places = this.places();
    places.sort((a, b) => b.hidden - a.hidden || this.page.isHighlighted(a.key) - this.page.isHighlighted(b.key));
    for (const place of places) this.drawMark(pen, place);
    for (const place of places) if (place.name && place.name.length > LONGEST_LABEL && place.key === this.page.pointed()) this.drawName(pen, place);
    this.page.drawOver(pen, this);
    if (this.overlay.matches(":focus-visible")) this.drawCrosshair(pen);
    if (this.ring) drawRing(pen, view.project(this.ring));
  }

  drawMark(pen, place) {
    drawLabel(pen, place, {
      label: place.label, fill: place.colour, large: this.page.isHighlighted(place.key),
      stroke: place.suspect ? "#ff5252" : "#fff",
    });
  }

  drawName(pen, place) {
    const text = place.name.length > 32 ? `${place.name.slice(0, 31)}…` : place.name;
    pen.font = "600 12px system-ui, sans-serif";
    const half = pen.measureText(text).width / 2 + 7;
    const x = Math.max(half, Math.min(place.x, this.view.width - half)), y = place.y > 44 ? place.y - 26 : place.y + 26;
    pen.fillStyle = "rgb(29 35 40 / 0.88)";
    pen.beginPath();
    pen.roundRect(x - half, y - 11, 2 * half, 22, 5);
    pen.fill();
    pen.fillStyle = "#fff";
    pen.fillText(text, x, y + 0.5);
  }

  // Where Enter would place a mark.
  drawCrosshair(pen) {
    const x = this.view.width / 2, y = this.view.height / 2;
    for (const [width, colour] of [[4, "#fff"], [1.5, "#111"]]) {
      pen.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(x + 3 * dx, y + 3 * dy);
        pen.lineTo(x + 14 * dx, y + 14 * dy);
      }
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.stroke();
    }
  }

  // ---- pointer ------------------------------------------------------------------------------
  listen() {
    const place = (event) => {
      const box = this.overlay.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const away = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    let down = null;
    this.overlay.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary) down = null; // a second finger: zooming, not placing
      if (!this.view || !event.isPrimary) return;
      const at = place(event), mark = this.markAt(at, event.pointerType === "mouse" ? REACH : FINGER);
      down = event.button === 0 && !event.shiftKey ? { at, mark, still: true } : null;
      if (!down || !mark) return;
      event.stopImmediatePropagation(); // the mark is meant, not the shape
      this.overlay.setPointerCapture(event.pointerId);
      this.page.press(mark, this.side);
    });
    this.overlay.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (down && away(at, down.at) > STILL) down.still = false;
      if (down && down.mark) {
        event.stopImmediatePropagation();
        if (!down.still) this.dragged = { key: down.mark.key, x: at[0], y: at[1] };
        this.draw();
      } else if (this.view && !down) {
        const mark = this.markAt(at);
        this.overlay.classList.toggle("on-mark", Boolean(mark));
        this.page.pointAt(mark && mark.key);
      }
      this.overlay.classList.toggle("rotating", Boolean(down && !down.mark && !down.still));
    });
    this.overlay.addEventListener("pointerleave", () => this.page.pointAt(null));
    this.overlay.addEventListener("pointerup", async (event) => {
      const pressed = down, moved = this.dragged;
      down = null;
      this.overlay.classList.remove("rotating");
      if (!pressed || !this.view) return;
      const ray = this.rayAt(...place(event));
      if (pressed.mark && !pressed.still) await this.page.drag(pressed.mark.key, this.side, ray);
      else if (!pressed.mark && pressed.still) this.page.click(this.side, ray);
      if (this.dragged === moved) this.dragged = null; // only now, so that it does not jump back
      this.draw();
    });
    this.overlay.addEventListener("pointercancel", () => { down = this.dragged = null; });
    this.overlay.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !this.view) return;
      event.preventDefault();
      this.page.click(this.side, this.rayAt(this.view.width / 2, this.view.height / 2));
    });
    for (const kind of ["focus", "blur"]) this.overlay.addEventListener(kind, () => this.draw());
    const canvas = this.box.querySelector("canvas.shape");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault()); // ask for it back
    canvas.addEventListener("webglcontextrestored", () => {
      this.version = 0; // all its buffers are gone
      this.page.update();
    });
    steer(this.overlay,
      (change) => this.view && this.page.moveCamera(this.side, change),
      (at) => this.view && this.page.hover(this.side, at ? this.view.pick(...at) : -1));
  }

  // Beside the outline by a few pixels still means the surface.
  rayAt(x, y) {
    const near = this.view.surfaceNear(x, y);
    return near && !near.exact ? this.view.ray(near.x, near.y) : this.view.ray(x, y);
  }

  markAt(at, reach = REACH) {
    const gap = (mark) => Math.hypot(mark.x - at[0], mark.y - at[1]);
    const near = this.places().filter((mark) => mark.key !== null && !mark.hidden && gap(mark) < reach);
    return near.sort((a, b) => gap(a) - gap(b))[0] || null;
  }

  // Rotate so that a point of the surface faces the eye, in the middle.
  face(mark) {
    const view = this.view, r = view.rotation;
    const apply = (v) => [0, 3, 6].map((i) => r[i] * v[0] + r[i + 1] * v[1] + r[i + 2] * v[2]);
    const [x, y, z] = apply(mark.normal);
    view.rotate(-Math.atan2(x, z), 0);
    view.rotate(0, Math.atan2(y, Math.hypot(x, z)));
    view.pan = [0, 0];
    const at = view.project(mark.at);
    view.shift(1 - (2 * at.x) / view.width, (2 * at.y) / view.height - 1);
    this.cameraMoved();
  }
}
