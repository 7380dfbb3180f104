// What the user has chosen to see goes to the studio, which keeps it with the project; and comes back.
"use strict";

const QUIET = 400; // milliseconds without a change before it is sent
const LOOK_SWITCHES = { own: "#own-colours", checker: "#checker", doubt: "#doubt", same: "#same-size", link: "#link" };

class KeptLook {
  constructor(stages, look) {
    Object.assign(this, { stages, look, version: -1, waiting: null });
    for (const kind of ["change", "input"]) document.addEventListener(kind, () => this.changed());
  }

  changed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.send().catch(() => {}), QUIET); // a lost studio is told elsewhere
  }

  async send() {
    clearTimeout(this.waiting);
    await server.post("look", { version: this.version, ...this.taken() });
  }

  taken() {
    const taken = {
      view: find('input[name="view"]:checked').value, preset: find("#preset").value,
      unit: find("#unit").value, cut: {}, fade: {}, cameras: {},
    };
    for (const name in LOOK_SWITCHES) taken[name] = find(LOOK_SWITCHES[name]).checked;
    for (const side in this.stages) {
      taken.cut[side] = Number(find(`#cut-${side}`).value);
      taken.fade[side] = Number(find(`#fade-${side}`).value);
      const { view } = this.stages[side];
      if (view) taken.cameras[side] = { rotation: [...view.rotation], pan: [...view.pan], zoom: view.zoom };
    }
    return taken;
  }

  // Once for each version: that of a page which is opened, or of a project.
  restore({ version, ...kept }) {
    if (version === this.version) return;
    this.version = version;
    for (const name in LOOK_SWITCHES) if (name in kept) find(LOOK_SWITCHES[name]).checked = kept[name];
    if ("own" in kept) this.look.decided = true;
    for (const name of ["preset", "unit"]) if (name in kept) find(`#${name}`).value = kept[name];
    this.look.unit = find("#unit").value;
    const view = kept.view && find(`input[name="view"][value="${kept.view}"]`);
    if (view && !view.disabled) view.checked = true;
    for (const side in this.stages) {
      for (const slider of ["cut", "fade"]) {
        if (kept[slider] && side in kept[slider]) find(`#${slider}-${side}`).value = kept[slider][side];
      }
      if (!this.stages[side].view) continue;
      Object.assign(this.stages[side].view, kept.cameras && kept.cameras[side]);
      this.look.apply(side);
      this.stages[side].draw();
    }
  }
}
