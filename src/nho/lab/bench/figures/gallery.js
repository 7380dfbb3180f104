// The page: one pair at a time in three linked views, and the choice of pair and method.
"use strict";

(() => {
  const cases = JSON.parse(document.getElementById("scene").textContent);
  const find = (selector) => document.querySelector(selector);
  const shapeOf = { support: "full", transfer: "partial", position: "full" };
  const views = {};
  let planned = false, current = -1, method = "";

  function drawNow() {
    planned = false;
    for (const name in views) views[name].draw();
  }

  function draw() {
    if (!planned) requestAnimationFrame(drawNow);
    planned = true;
  }

  // ---- what is shown ----------------------------------------------------------------------
  function paint() {
    const { methods, scores } = cases[current], row = Math.max(methods.indexOf(method), 0);
    views.support.show(String(row));
    views.transfer.show(String(row));
    views.position.show("position");
    find("#readout").textContent = scores[row];
    draw();
  }

  // Methods may differ from pair to pair; the one that was chosen stays chosen where it can.
  function offer(methods) {
    if (!methods.includes(method)) method = methods[Math.min(1, methods.length - 1)];
    const choices = methods.map((name) => {
      const label = document.createElement("label"), input = document.createElement("input");
      const words = document.createElement("span");
      input.type = "radio";
      input.name = "method";
      input.value = name;
      input.checked = name === method;
      input.addEventListener("change", () => {
        method = name;
        paint();
      });
      words.textContent = name;
      label.append(input, words);
      return label;
    });
    find("#methods").replaceChildren(find("#methods legend"), ...choices);
  }

  function open(number) {
    current = (number + cases.length) % cases.length;
    find("#case").value = String(current);
    // The graphics context stays the same; what it held of the last pair is free to go.
    for (const name in shapeOf) {
      views[name] = new ShapeView(find(`.stage[data-view="${name}"]`), cases[current][shapeOf[name]]);
    }
    offer(cases[current].methods);
    paint();
  }

  // ---- pointer, wheel and keys ------------------------------------------------------------
  function each(name, change) {
    const together = find("#link-cameras").checked;
    for (const view of together ? Object.values(views) : [views[name]]) change(view);
    draw();
  }

  function listen(name) {
    steer(views[name].overlay, (change) => each(name, change));
    views[name].canvas.addEventListener("webglcontextlost", () => {
      find("#no-webgl").hidden = false;
      find("#no-webgl-reason").textContent = "the graphics context was lost; reload the page";
    });
  }

  try {
    open(0);
  } catch (problem) {
    find("#viewer").classList.add("broken");
    find("#no-webgl").hidden = false;
    find("#no-webgl-reason").textContent = problem.message;
    return;
  }
  for (const name in views) listen(name);
  find("#case").addEventListener("change", (event) => open(Number(event.target.value)));
  find("#previous").addEventListener("click", () => open(current - 1));
  find("#next").addEventListener("click", () => open(current + 1));
  for (const button of document.querySelectorAll("button[data-case]")) {
    button.addEventListener("click", () => {
      open(Number(button.dataset.case));
      find("#viewer").scrollIntoView();
    });
  }
  find("#reset-views").addEventListener("click", () => {
    for (const name in views) views[name].reset();
    draw();
  });
  new ResizeObserver(draw).observe(find("#viewer"));
  drawNow();
  window.nhoGallery = { views, cases, open, drawNow }; // for a look from the console
})();
