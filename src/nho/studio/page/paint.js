// The colours that the chosen view gives to both shapes.
"use strict";

class Painter {
  constructor(stages, hover, look) {
    Object.assign(this, { stages, hover, look, painted: "", length: null });
  }

  // The colours of the chosen view; each is loaded when it is first looked at.
  async paint(version) {
    const view = find('input[name="view"]:checked').value, compare = view === "correspondence" ? find("#compare").value : "";
    const own = find("#own-colours").checked, doubt = find("#doubt").checked;
    panel.showLegend(compare || view, this.length, this.look.unit);
    for (const stage of Object.values(this.stages)) this.setChecker(stage, view, version);
    const want = [view, version, own, doubt, compare].join(" ");
    if (want === this.painted) return;
    this.painted = want;
    this.length = null;
    const load = (path) => server.numbers(`outcome/${path}?version=${version}`, Uint8Array);
    for (const side in this.stages) {
      const stage = this.stages[side], scan = side === "partial";
      let known, name = view;
      if (view === "shape") {
        if (own && stage.view && stage.view.texture) name = "texture";
        known = stage.view && ((own && stage.own) || stage.view.colours.plain);
      }
      else if (view === "misfit" || compare === "change") {
        if (scan) stage.show("waiting", stage.view.colours.plain); // the first time takes seconds
        known = scan ? await load(view === "misfit" ? view : compare) : stage.view.colours.plain;
      } else known = await load(`${side}/${view === "correspondence" && !scan ? "faded" : view}`);
      if (want !== this.painted) return;
      if (scan && known && (view === "misfit" || compare === "change")) {
        this.length = new DataView(known.buffer).getFloat32(known.length - 4, true);
        known = known.subarray(0, known.length - 4);
        panel.showLegend(compare || view, this.length, this.look.unit);
      }
      if (doubt && scan && view === "correspondence" && !compare) known = this.hover.doubted(known);
      stage.show(name, known);
    }
    if (compare === "swipe") this.stages.partial.view.setOther(await load("earlier"));
    this.look.swipe();
  }

  // The checker is fixed to the template, so the same cell is the same place on both shapes.
  setChecker(stage, view, version) {
    if (!stage.view) return;
    const shown = view === "correspondence" && this.hover.partners && find("#checker").checked;
    if (shown && stage.checked !== version) {
      stage.view.setPlaces(stage.side === "full" ? stage.view.positions : this.hover.partners.place);
      stage.checked = version;
    }
    stage.view.cells = shown ? this.look.checkerCells(this.stages.full.view) : 0;
    stage.draw();
  }
}
