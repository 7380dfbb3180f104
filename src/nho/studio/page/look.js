// How the shapes are shown, beside the chosen view: colours of the file, cuts, opacity, size, scale bar.
"use strict";

const CHECKER = 10; // cells along the radius of the template, at the first zoom
const BAR = 110; // pixels that the scale bar has at most

class Look {
  constructor(stages, redraw) {
    this.stages = stages;
    this.unit = "";
    this.same = false;
    for (const side in stages) {
      this.slide(`#cut-${side}`, (value) => {
        stages[side].view.cut = value;
        stages[side].view.depthIsOld = true;
        stages[side].draw();
      }, side);
      this.slide(`#fade-${side}`, (value) => {
        stages[side].view.fade = 0.95 * value;
        stages[side].draw();
      }, side);
    }
    for (const id of ["#own-colours", "#checker", "#doubt", "#compare"]) find(id).addEventListener("change", redraw);
    find("#own-colours").addEventListener("change", () => { this.decided = true; });
    find("#swipe").addEventListener("input", () => this.swipe());
    // A menu closes when something else is clicked, and by Escape.
    for (const menu of document.querySelectorAll("details.menu")) {
      document.addEventListener("pointerdown", (event) => { if (!menu.contains(event.target)) menu.open = false; });
      menu.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        menu.open = false;
        menu.querySelector("summary").focus();
      });
    }
    find("#same-size").addEventListener("change", (event) => this.setSame(event.target.checked));
    find("#unit").addEventListener("change", (event) => {
      this.unit = event.target.value;
      for (const side in stages) stages[side].draw();
    });
  }

  slide(selector, act, side) {
    find(selector).addEventListener("input", (event) => {
      if (this.stages[side].view) act(Number(event.target.value) / 100);
    });
  }

  // After another shape, or a reset of the views: what the controls say holds for it.
  apply(side) {
    const view = this.stages[side].view;
    view.cut = Number(find(`#cut-${side}`).value) / 100;
    view.fade = (0.95 * Number(find(`#fade-${side}`).value)) / 100;
    view.depthIsOld = true;
  }

  // Cut away what hides a point.
  open(side, point) {
    const view = this.stages[side].view;
    view.cutAt(point);
    find(`#cut-${side}`).value = Math.round(100 * view.cut);
  }

  // `shapes` and `scale` (scan to template) as the studio says them.
  setShapes(shapes, scale) {
    this.shapes = shapes;
    this.scale = scale;
    const known = Boolean(shapes.partial && shapes.full);
    find("#same-size").disabled = !known;
    const coloured = Object.values(shapes).some((shape) => shape && shape.coloured);
    find("#own-colours").disabled = !coloured;
    if (!this.decided) find("#own-colours").checked = coloured; // it is what people click on
    this.setSame(known && find("#same-size").checked);
  }

  radius(side) {
    return this.shapes[side].radius * (side === "partial" ? this.scale : 1);
  }

  setSame(same) {
    const largest = same ? Math.max(this.radius("partial"), this.radius("full")) : 0;
    for (const side in this.stages) {
      const { view } = this.stages[side];
      if (!view) continue;
      view.size = same ? this.radius(side) / largest : 1;
      view.depthIsOld = true;
      this.stages[side].draw();
    }
  }

  // Cells double with the zoom, so that there is something to see in every picture.
  checkerCells(view) {
    return CHECKER * 2 ** Math.round(Math.log2(Math.max(view.zoom, 1)));
  }

  // From the left to the handle the match, from there on the one before it.
  swipe() {
    const { view } = this.stages.partial, shown = find("#compare").value === "swipe";
    find("#swipe-row").hidden = !shown;
    if (!view) return;
    view.swipe = shown ? Math.max(1, (Number(find("#swipe").value) / 100) * view.canvas.width) : 0;
    this.stages.partial.draw();
  }

  // Where one match ends and the other begins.
  drawSwipe(pen, stage) {
    const { view } = stage;
    if (!view.swipe) return;
    const x = view.swipe / view.dots;
    for (const [width, colour] of [[4, "#fff"], [1.5, "#111"]]) {
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, view.height);
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.stroke();
    }
  }

  drawScaleBar(pen, stage) {
    const shape = this.shapes && this.shapes[stage.side];
    if (!shape || !stage.view) return;
    const perUnit = stage.view.pixelsPerUnit(shape.radius), longest = BAR / perUnit;
    const power = 10 ** Math.floor(Math.log10(longest));
    const length = [5, 2, 1].map((times) => times * power).find((value) => value <= longest) || power;
    const width = length * perUnit, x = 14, y = stage.view.height - 16;
    const text = `${Number(length.toPrecision(3))} ${this.unit || "units"}`;
    const colour = (name) => getComputedStyle(stage.box).getPropertyValue(name);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colour("--stage"); // it is read on a shape that fills the picture, too
    pen.globalAlpha = 0.75;
    pen.beginPath();
    pen.roundRect(x - 6, y - 22, Math.max(width, pen.measureText(text).width) + 12, 34, 5);
    pen.fill();
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--ink");
    pen.fillRect(x, y, width, 3);
    pen.fillRect(x, y - 4, 1.5, 11);
    pen.fillRect(x + width - 1.5, y - 4, 1.5, 11);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(text, x, y - 7);
  }
}
