// The page: two linked views, what they show, their marks, and the pointer.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const find = (selector) => document.querySelector(selector);
  const views = {};
  try {
    for (const name of ["partial", "full"]) {
      views[name] = new ShapeView(find(`.stage[data-shape="${name}"]`), data[name]);
    }
  } catch (problem) {
    find("#viewer").classList.add("broken");
    find("#no-webgl").hidden = false;
    find("#no-webgl-reason").textContent = problem.message;
    return;
  }
  const partner = unpack(data.partner, Float32Array);
  const partnerVertex = unpack(data.partnerVertex, Int32Array);
  const confidence = unpack(data.confidence, Float32Array);
  const regionScore = unpack(data.regionScore, Float32Array);
  // A large mesh is drawn in part: what the user calls the vertices that are drawn.
  const number = {};
  for (const name in views) number[name] = unpack(data[name].number, Uint32Array);
  const suspects = new Set(data.suspects);
  const hover = { partial: -1, full: -1 };
  const resting = find("#readout").textContent;
  let planned = false;

  // ---- marks ------------------------------------------------------------------------------
  function pointedAt(pen, place) {
    drawRing(pen, place);
    pen.beginPath();
    pen.arc(place.x, place.y, 2.5, 0, 2 * Math.PI);
    pen.fillStyle = "#111";
    pen.fill();
  }

  function partnerOf(vertex) {
    return partnerVertex[vertex] < 0 ? null : partner.subarray(3 * vertex, 3 * vertex + 3);
  }

  function drawMarks(name) {
    const view = views[name], pen = view.overlay.getContext("2d");
    pen.setTransform(view.dots, 0, 0, view.dots, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    if (find("#show-anchors").checked) {
      const column = name === "partial" ? 0 : 1;
      const dots = data.anchors.map((pair, row) => [view.project(view.vertex(pair[column])), row]);
      dots.sort((a, b) => b[0].hidden - a[0].hidden); // the hidden ones first, under the others
      for (const [place, row] of dots) {
        drawLabel(pen, place, { label: data.names[row], fill: suspects.has(row) ? "#c62828" : "#22303c" });
      }
      if (data.nextAnchor !== null) {
        const next = data.nextAnchor;
        const at = name === "partial" ? view.vertex(next) : partnerOf(next);
        if (at) drawLabel(pen, view.project(at), { label: "+", fill: "#b45f06" });
      }
    }
    if (name === "partial" && hover.partial >= 0) {
      pointedAt(pen, view.project(view.vertex(hover.partial)));
    } else if (name === "full" && hover.partial >= 0 && partnerOf(hover.partial)) {
      pointedAt(pen, view.project(partnerOf(hover.partial)));
    } else if (name === "full" && hover.full >= 0) {
      pointedAt(pen, view.project(view.vertex(hover.full)));
    }
  }

  function drawNow() {
    planned = false;
    for (const name in views) {
      views[name].draw();
      drawMarks(name);
    }
  }

  function draw() {
    if (!planned) requestAnimationFrame(drawNow);
    planned = true;
  }

  // ---- what is shown ----------------------------------------------------------------------
  function chosen() {
    return find('input[name="mode"]:checked').value;
  }

  function show() {
    const mode = chosen();
    const faded = mode === "correspondence" && find("#fade-outside").checked;
    const own = (name) => (views[name].texture ? "texture" : "own");
    views.partial.show(mode === "own" ? own("partial") : mode);
    views.full.show(mode === "own" ? own("full") : faded ? "faded" : mode);
    find("#fade-outside").disabled = mode !== "correspondence";
    for (const legend of document.querySelectorAll("[data-legend]")) {
      legend.hidden = legend.dataset.legend !== mode;
    }
    draw();
  }

  async function loadTexture(name) {
    const { images, counts, ...packedArrays } = data[name].texture, { gl } = views[name];
    const largest = Math.min(LARGEST_IMAGE, gl.getParameter(gl.MAX_TEXTURE_SIZE));
    const decoded = await Promise.all(images.map((about) =>
      decodedImage(new Blob([unpack(about.data, Uint8Array)], { type: about.kind }), about, largest)));
    const seams = {
      counts, vertex: unpack(packedArrays.vertex, Uint32Array),
      uv: unpack(packedArrays.uv, Float32Array), faces: unpack(packedArrays.faces, Uint32Array),
    };
    views[name].setTexture(seams, decoded);
    views[name].colours.texture = views[name].colours.own;
    if (chosen() === "own") show();
  }

  function readout() {
    let text = resting;
    if (hover.partial >= 0) {
      const to = partnerVertex[hover.partial], trust = confidence[hover.partial];
      text = `Partial vertex ${number.partial[hover.partial]} → ` + (to < 0 ? "no match" : `full vertex ${to}`)
        + (Number.isNaN(trust) ? "" : `, confidence ${trust.toFixed(2)}`);
    } else if (hover.full >= 0) {
      text = `Full vertex ${number.full[hover.full]}, region score ${regionScore[hover.full].toFixed(2)}`;
    }
    find("#readout").textContent = text;
  }

  function point(name, x, y) {
    hover.partial = hover.full = -1;
    hover[name] = views[name].pick(x, y);
    readout();
    draw();
  }

  // ---- pointer, wheel and keys ------------------------------------------------------------
  function each(name, change) {
    const together = find("#link-cameras").checked;
    for (const view of together ? Object.values(views) : [views[name]]) change(view);
    draw();
  }

  function listen(name) {
    const view = views[name];
    steer(view.overlay, (change) => each(name, change), (at) => {
      if (at) return point(name, ...at);
      hover.partial = hover.full = -1;
      readout();
      draw();
    });
    view.canvas.addEventListener("webglcontextlost", () => {
      find("#no-webgl").hidden = false;
      find("#no-webgl-reason").textContent = "the graphics context was lost; reload the page";
    });
  }

  for (const name in views) listen(name);
  for (const input of document.querySelectorAll('input[name="mode"], #fade-outside')) {
    input.addEventListener("change", show);
  }
  find("#show-anchors").addEventListener("change", draw);
  find("#reset-views").addEventListener("click", () => {
    for (const name in views) views[name].reset();
    draw();
  });
  new ResizeObserver(draw).observe(find("#viewer"));
  show();
  drawNow();
  for (const name in views) {
    if (data[name].texture) loadTexture(name).catch((problem) => { find("#readout").textContent = problem.message; });
  }
  window.nhoReport = { views, hover, partnerOf, drawNow }; // for a look from the console
})();
