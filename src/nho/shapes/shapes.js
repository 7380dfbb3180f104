// The page of a shape space: sliders move the mean along its components; the plot of scores,
// the thumbnails and the sliders show the same shape.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const find = (selector) => document.querySelector(selector);
  const modes = data.modes.map((mode) => unpack(mode, Float32Array));
  const sliders = [...document.querySelectorAll(".sliders input")];
  const odd = new Set(data.outliers);
  let view = null, planned = false, chosen = -1, playing = 0;
  try {
    view = new ShapeView(find(".stage"), data.mean);
  } catch (problem) {
    find("#no-webgl").hidden = false;
    find("#no-webgl-reason").textContent = problem.message;
  }
  const rest = view ? view.positions.slice() : null;

  // ---- the shape ----------------------------------------------------------------------------
  function pose(scores) {
    const positions = rest.slice();
    modes.forEach((mode, k) => {
      const score = scores[k] || 0;
      if (score) for (let i = 0; i < mode.length; i++) positions[i] += score * mode[i];
    });
    const gl = view.gl;
    [positions, smoothNormals(positions, view.faces)].forEach((values, slot) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, view.buffers[slot]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    });
    view.positions = positions;
    view.depthIsOld = true;
  }

  const values = () => sliders.map((slider) => Number(slider.value));

  function drawNow() {
    planned = false;
    if (!view) return;
    pose(values());
    view.draw();
  }

  function draw() {
    if (!planned) requestAnimationFrame(drawNow);
    planned = true;
  }

  function update() {
    for (const slider of sliders) {
      slider.parentElement.querySelector("output").value = `${Number(slider.value).toFixed(1)} sd`;
    }
    const some = values().some((value) => value !== 0);
    find("#shown").textContent = chosen >= 0 ? data.names[chosen] : some ? "Shape" : "Mean shape";
    for (const mark of document.querySelectorAll("[data-row]")) {
      mark.classList.toggle("chosen", Number(mark.dataset.row) === chosen);
    }
    moveRing();
    draw();
  }

  function choose(row) {
    chosen = row;
    sliders.forEach((slider, k) => { slider.value = row < 0 ? 0 : data.scores[row][k]; });
    update();
  }

  // ---- the plot -----------------------------------------------------------------------------
  const across = find("#across"), up = find("#up"), plot = find("#plot");
  const columns = data.explained.map((_, k) => ({
    name: `Component ${k + 1}`, of: (row) => data.scores[row][k], error: (row) => data.errors[row][k],
  }));
  columns.push({ name: "log centroid size", of: (row) => Math.log(data.sizes[row]), error: () => 0 });
  for (const list of [across, up]) {
    columns.forEach((column, k) => list.append(new Option(column.name, k)));
  }
  across.value = 0;
  up.value = Math.min(1, columns.length - 1);
  let place = () => [0, 0];

  function add(kind, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    if (text) element.textContent = text;
    plot.append(element);
    return element;
  }

  function scale(column) {
    const all = data.names.flatMap((_, row) => {
      const [value, error] = [column.of(row), column.error(row)];
      return [value - error, value + error];
    });
    const middle = (Math.max(...all) + Math.min(...all)) / 2;
    const reach = Math.max(...all.map((value) => Math.abs(value - middle)), 1e-9);
    return { to: (value) => (85 * (value - middle)) / reach, length: (error) => (85 * error) / reach };
  }

  function drawPlot() {
    plot.replaceChildren();
    const [x, y] = [columns[across.value], columns[up.value]];
    const [sx, sy] = [scale(x), scale(y)];
    const centre = [sx.to(0), sy.to(0)].map((value) => Math.min(Math.max(value, -100), 100));
    add("line", { class: "axis", x1: -100, x2: 100, y1: -centre[1], y2: -centre[1] });
    add("line", { class: "axis", y1: -100, y2: 100, x1: centre[0], x2: centre[0] });
    add("text", { x: 104, y: 106, "text-anchor": "end" }, x.name);
    add("text", { x: -104, y: -100 }, y.name);
    data.names.forEach((name, row) => {
      const at = [sx.to(x.of(row)), -sy.to(y.of(row))];
      const [ex, ey] = [sx.length(x.error(row)), sy.length(y.error(row))];
      add("line", { class: "error", x1: at[0] - ex, x2: at[0] + ex, y1: at[1], y2: at[1] });
      add("line", { class: "error", y1: at[1] - ey, y2: at[1] + ey, x1: at[0], x2: at[0] });
      const dot = add("circle", { cx: at[0], cy: at[1], r: 3.2, "data-row": row, tabindex: 0 });
      dot.append(document.createElementNS("http://www.w3.org/2000/svg", "title"));
      dot.firstChild.textContent = name;
      if (odd.has(name)) dot.classList.add("odd");
      dot.addEventListener("click", () => choose(row));
      dot.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(row); });
    });
    place = () => [Number(across.value), Number(up.value)].map((k, i) => {
      const score = k < sliders.length ? Number(sliders[k].value) : 0;
      return i ? -sy.to(score) : sx.to(score);
    });
    add("circle", { class: "here", r: 6, id: "here" });
    moveRing();
  }

  function moveRing() {
    const ring = find("#here");
    if (!ring) return;
    const [x, y] = place();
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
  }

  // ---- thumbnails ---------------------------------------------------------------------------
  function thumbnails() {
    const strip = find("#thumbs");
    data.names.slice(0, 60).forEach((name, row) => {
      const button = document.createElement("button");
      const picture = document.createElement("canvas");
      [picture.width, picture.height] = [200, 152];
      button.type = "button";
      button.title = name;
      button.dataset.row = row;
      button.append(picture, name);
      button.addEventListener("click", () => choose(row));
      strip.append(button);
      pose(data.scores[row]);
      view.draw();
      const wide = view.canvas, ratio = Math.min(200 / wide.width, 152 / wide.height);
      const size = [wide.width * ratio, wide.height * ratio];
      picture.getContext("2d").drawImage(wide, (200 - size[0]) / 2, (152 - size[1]) / 2, ...size);
    });
  }

  // ---- listening ----------------------------------------------------------------------------
  for (const slider of sliders) {
    slider.addEventListener("input", () => { chosen = -1; update(); });
  }
  for (const list of [across, up]) list.addEventListener("change", drawPlot);
  find("#to-mean").addEventListener("click", () => choose(-1));
  find("#play").addEventListener("click", () => {
    playing = playing ? 0 : performance.now();
    const step = (now) => {
      if (!playing) return;
      sliders[0].value = 2 * Math.sin((now - playing) / 600);
      chosen = -1;
      update();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  drawPlot();
  if (view) {
    view.show("plain");
    steer(view.overlay, (change) => { change(view); draw(); });
    thumbnails();
    new ResizeObserver(draw).observe(find("#viewer"));
  }
  update();
  window.nhoShapes = { choose, view, drawNow };
})();
