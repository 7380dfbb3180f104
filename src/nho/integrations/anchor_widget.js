// The widget for notebooks: two stages of the studio; what is done on them goes to the kernel.
"use strict";

function copied(Kind, bytes) {
  return new Kind(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

function renderAnchors({ model, el }) {
  el.classList.add("nho-anchors");
  el.innerHTML = `
    <div class="bar">
      <button type="button" data-do="match">Match</button>
      <button type="button" data-do="undo">Undo</button>
      <button type="button" data-do="remove">Remove pair</button>
      <label><input type="checkbox" class="link" checked> Link cameras</label>
      <span class="message" aria-live="polite"></span>
    </div>
    <div class="both">
      ${["partial", "full"].map((side) => `
      <div class="stage" data-shape="${side}">
        <canvas class="shape"></canvas>
        <canvas class="marks" tabindex="0" aria-label="${side} shape; Enter marks its middle"></canvas>
      </div>`).join("")}
    </div>`;
  let chosen = null, pointed = null;
  const find = (selector) => el.querySelector(selector);
  const draw = () => Object.values(stages).forEach((stage) => stage.draw());
  const send = (what, more = {}) => model.send({ do: what, ...more });

  const page = {
    marksOn: (side) => model.get("pairs").filter((pair) => pair[side]).map((pair) => ({
      key: pair.key, at: pair[side].at, label: pair.name, name: pair.name,
      colour: pair.suspect ? "#c62828" : markColour(pair.key), suspect: pair.suspect,
    })),
    isHighlighted: (key) => key === chosen,
    choose(key) {
      chosen = key;
      draw();
    },
    pointed: () => pointed,
    pointAt(key) {
      if (key === pointed) return;
      pointed = key;
      draw();
    },
    moveCamera(side, change) {
      for (const stage of Object.values(stages)) {
        if (!find(".link").checked && stage.side !== side) continue;
        change(stage.view);
        stage.cameraMoved();
      }
    },
    click: (side, ray) => ray && send("place", { side, ...ray }),
    drag: (key, side, ray) => ray && send("move", { key, side, ...ray }),
    press: ({ key }) => page.choose(key),
    hover() {}, // only the studio shows partners under the pointer,
    drawOver() {}, // a scale bar and measures
    update: load,
  };
  const stages = { partial: new Stage("partial", page, el), full: new Stage("full", page, el) };

  function load() {
    for (const [side, stage] of Object.entries(stages)) {
      const shape = model.get("shapes")[side];
      stage.take(shape, copied(Float32Array, shape.positions), copied(Uint32Array, shape.faces),
        copied(Uint32Array, shape.coarse), copied(Uint32Array, shape.number));
    }
    paint();
  }

  function paint() {
    const colours = model.get("colours");
    for (const [side, stage] of Object.entries(stages)) {
      if (colours[side]) stage.show("match", copied(Uint8Array, colours[side]));
      else stage.show("shape");
    }
  }

  function say() {
    find(".message").textContent = model.get("message");
    find('[data-do="match"]').disabled = model.get("busy");
  }

  for (const button of el.querySelectorAll("button")) {
    button.addEventListener("click", () => send(button.dataset.do, { key: chosen }));
  }
  model.on("change:pairs", draw);
  model.on("change:colours", paint);
  model.on("change:message change:busy", say);
  try {
    load();
    say();
  } catch (problem) {
    find(".message").textContent = `The 3D view needs WebGL2 (${problem.message})`;
  }
}
