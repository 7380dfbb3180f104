// Pointer, wheel and keys of one view: drag or arrows to rotate, with Shift (or two fingers) to shift,
// wheel or + and - to zoom.
"use strict";

// `change` is called with what to do to a view; `hover`, if given, with a place in pixels and with
// null when there is none any more.
function steer(target, change, hover = () => {}) {
  const pressed = new Map(); // pointers that are down, by id
  const place = (event) => {
    const box = target.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const inView = ([x, y]) => {
    const box = target.getBoundingClientRect();
    return [(2 * x) / box.width - 1, 1 - (2 * y) / box.height];
  };
  const middle = () => {
    const all = [...pressed.values()];
    return [0, 1].map((i) => all.reduce((sum, at) => sum + at[i], 0) / all.length);
  };
  const fingerGap = () => {
    const [a, b] = [...pressed.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  };
  target.addEventListener("pointerdown", (event) => {
    target.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, place(event));
    if (event.pointerType !== "mouse") hover(place(event)); // a finger cannot hover
  });
  target.addEventListener("pointermove", (event) => {
    if (!pressed.has(event.pointerId)) {
      if (event.pointerType === "mouse") hover(place(event));
      return;
    }
    const before = middle(), gapBefore = pressed.size === 2 ? fingerGap() : 1;
    pressed.set(event.pointerId, place(event));
    const after = middle(), dx = after[0] - before[0], dy = after[1] - before[1];
    const panning = pressed.size > 1 || event.shiftKey || (event.buttons & 6) !== 0;
    const box = target.getBoundingClientRect();
    change((view) => {
      if (panning) view.shift((2 * dx) / box.width, (-2 * dy) / box.height);
      else view.rotate(0.01 * dx, 0.01 * dy);
      if (pressed.size === 2) view.magnify(fingerGap() / gapBefore, inView(after));
    });
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    target.addEventListener(kind, (event) => pressed.delete(event.pointerId));
  }
  target.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !pressed.size) hover(null);
  });
  target.addEventListener("contextmenu", (event) => event.preventDefault());
  target.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : 1;
    const factor = Math.exp(-0.0015 * lines * event.deltaY);
    change((view) => view.magnify(factor, inView(place(event))));
  }, { passive: false });
  target.addEventListener("keydown", (event) => {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 };
    if (event.key in arrows && event.shiftKey) {
      const [right, down] = arrows[event.key];
      change((view) => view.shift(0.06 * right, -0.06 * down));
    } else if (event.key in arrows) {
      change((view) => view.rotate(...arrows[event.key].map((way) => 0.12 * way)));
    } else if (event.key in zooms) {
      change((view) => view.magnify(zooms[event.key], [0, 0]));
    } else return;
    event.preventDefault();
  });
}
