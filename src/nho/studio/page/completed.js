// The completed scan in a window of its own: what was measured, and what the template adds.
"use strict";

const MEASURED = "rgb(46 125 140)", PREDICTED = "rgb(224 142 48)"; // as the studio paints them

class Completed {
  // `page` offers: complain(problem); `version()` is that of the shown result.
  constructor(stages, look, page, version) {
    Object.assign(this, { stages, look, page, version, view: null, shown: 0, planned: false });
    this.dialog = find("#completed");
    find("#complete").addEventListener("click", () => this.open());
    find("#close-completed").addEventListener("click", () => this.dialog.close());
    steer(this.dialog.querySelector(".marks"), (change) => {
      if (!this.view) return;
      change(this.view);
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.dialog.querySelector(".stage"));
  }

  async open() {
    const busy = this.dialog.querySelector(".busy");
    this.dialog.showModal();
    this.dialog.querySelector(".marks").focus();
    try {
      if (this.shown !== this.version()) {
        busy.hidden = false;
        this.say("");
        await this.load(this.version());
      }
      this.view.reset();
      this.view.rotation = this.stages.partial.view.rotation.slice();
      this.sayAll();
      this.draw();
    } catch (problem) {
      this.dialog.close();
      this.page.complain(problem);
    } finally {
      busy.hidden = true;
    }
  }

  async load(version) {
    const path = (name) => `outcome/completed/${name}?version=${version}`;
    const about = await server.json(path("about"));
    const [positions, faces, colours] = await Promise.all([
      server.numbers(path("positions"), Float32Array), server.numbers(path("faces"), Uint32Array),
      server.numbers(path("colours"), Uint8Array),
    ]);
    if (this.view) this.view.dispose();
    const stage = this.dialog.querySelector(".stage");
    const rotation = [this.stages.partial.view.home]; // it lies as the scan does
    this.view = new ShapeView(stage, { positions, faces, rotation, colours: { parts: colours } });
    this.view.show("parts");
    Object.assign(this, { about, shown: version });
  }

  say(...words) {
    find("#completed-legend").replaceChildren(...words);
  }

  sayAll() {
    const { measured, error } = this.about, unit = this.look.unit || "units";
    const words = [swatch(MEASURED), ` measured, ${share(measured)} of the area `, swatch(PREDICTED), " predicted by the template"];
    if (error) words.push(`: two of three points within ${Number(error.toPrecision(2))} ${unit} of the true surface`);
    if (panel.alone) words.push(". What has no partner on the template is left out.");
    this.say(...words);
  }

  draw() {
    if (!this.planned && this.view && this.dialog.open) {
      this.planned = true;
      requestAnimationFrame(() => {
        this.planned = false;
        this.view.draw();
      });
    }
  }
}
