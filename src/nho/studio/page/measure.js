// Measuring: two clicks on one shape give the distance between them, straight and along the surface.
"use strict";

class Measure {
  constructor(stages, look, complain) {
    Object.assign(this, { stages, look, complain, side: null, rays: [], ends: [], found: null });
    find("#measure").addEventListener("change", () => this.clear());
  }

  get active() {
    return find("#measure").checked;
  }

  clear() {
    Object.assign(this, { side: null, rays: [], ends: [], found: null });
    find("#measured").textContent = this.active ? "Click two points of one shape." : "";
    for (const side in this.stages) this.stages[side].draw();
  }

  async click(side, ray) {
    if (side !== this.side || this.rays.length === 2) Object.assign(this, { side, rays: [], ends: [], found: null });
    this.rays.push(ray);
    const [start, end] = [this.rays[0], this.rays.at(-1)];
    try {
      const found = await server.post("measure", { side, start, end });
      this.ends = found.ends.slice(0, this.rays.length);
      this.found = this.rays.length === 2 ? found : null;
    } catch (problem) {
      this.rays.pop();
      this.complain(problem);
    }
    find("#measured").textContent = this.found ? this.words() : "Click the second point.";
    this.stages[side].draw();
  }

  words() {
    const unit = this.look.unit ? ` ${this.look.unit}` : "", { straight, along } = this.found;
    const length = (value) => `${Number(value.toPrecision(4))}${unit}`;
    return `${length(straight)} straight, ${along === null ? "no way" : length(along)} along the surface`;
  }

  draw(pen, stage) {
    if (stage.side !== this.side) return;
    const places = this.ends.map((end) => stage.view.project(end));
    if (places.length === 2) {
      for (const [width, colour] of [[4, "#fff"], [2, "#111"]]) {
        pen.beginPath();
        pen.moveTo(places[0].x, places[0].y);
        pen.lineTo(places[1].x, places[1].y);
        pen.lineWidth = width;
        pen.strokeStyle = colour;
        pen.stroke();
      }
    }
    for (const place of places) drawRing(pen, place);
  }
}
