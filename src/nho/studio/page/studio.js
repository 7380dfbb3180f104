// The page: keeps both stages and the panel in step with the state of the studio.
"use strict";

(() => {
  let state = null, chosen = null, pointed = null, complaint = null, fetching = false, again = false;
  let shownOutcome = 0, downloaded = 0; // versions of results

  const page = {
    marksOn(side) {
      if (!state) return [];
      const suspects = suspectsOf(state);
      const marks = state.pairs.filter((pair) => pair[side] && pair.state !== "absent").map((pair) => ({
        key: pair.key, at: pair[side].at, label: pair.name, name: pair.name,
        colour: page.colourOf(pair), suspect: suspects.has(pair.key),
      }));
      const next = state.suggestion && (side === "partial" ? state.suggestion.mark : state.suggestion.partner);
      if (next) marks.push({ key: null, at: next.at, label: "+", colour: "#b45f06", suspect: false });
      return marks;
    },
    colourOf: (pair) => (suspectsOf(state).has(pair.key) ? "#c62828" : isParked(pair) ? PARKED : markColour(pair.key)),
    // The chosen pair, and the one that waits for its partner.
    isHighlighted: (key) => key !== null && (key === chosen || key === state.chosenOpen),
    choose(key) {
      chosen = key;
      refresh();
    },
    pointed: () => pointed,
    pointAt(key) {
      if (key === pointed) return;
      pointed = key;
      for (const stage of Object.values(stages)) stage.draw();
    },
    moveCamera(side, change) {
      const together = find("#link").checked;
      for (const stage of Object.values(stages)) {
        if (stage.view && (together || stage.side === side)) {
          change(stage.view);
          stage.cameraMoved();
          if (stage.view.cells) stage.view.cells = look.checkerCells(stages.full.view);
        }
      }
      kept.changed();
    },
    sendLook: () => kept.send(),
    // A mark was pressed: it is chosen, or is the partner of the pair that was just begun.
    press(mark, side) {
      const pair = state.pairs.find((other) => other.key === mark.key);
      const begun = state.pairs.find((other) => other.key === state.open);
      if (pair && begun && isParked(pair) && !begun[side]) page.post("join", { key: begun.key, parked: pair.key });
      else page.choose(mark.key);
    },
    drawOver(pen, stage) {
      look.drawSwipe(pen, stage);
      look.drawScaleBar(pen, stage);
      measure.draw(pen, stage);
    },
    click(side, ray) {
      if (measure.active) {
        measure.click(side, ray);
        return;
      }
      const open = state.pairs.find((pair) => pair.key === state.chosenOpen);
      page.post("place", { side, key: open ? open.key : null, ...ray });
    },
    drag: (key, side, ray) => page.post("move", { key, side, ...ray }),
    rename: (key, name) => page.post("rename", { key, name }),
    remove: (key) => page.post("remove", { key }),
    hover: (side, row) => hover.show(side, row),
    async post(path, about) {
      try {
        await server.post(path, about);
        await update();
      } catch (problem) {
        refresh(); // what was asked for did not happen
        complain(problem);
      }
    },
    match() {
      if (!find("#match").disabled) page.post("match", { preset: find("#preset").value });
    },
    removeChosen() {
      if (state.pairs.some((pair) => pair.key === chosen)) page.remove(chosen);
    },
    renameChosen() {
      const input = find(`#pairs input[data-key="${chosen}"]`);
      if (input) input.select();
    },
    escape() {
      const open = state.pairs.find((pair) => pair.key === state.chosenOpen);
      if (open && isParked(open)) page.choose(null);
      else if (open) page.remove(open.key);
    },
    faceChosen() {
      const pair = state.pairs.find((other) => other.key === chosen);
      for (const side in stages) if (pair && pair[side]) stages[side].face(pair[side]);
    },
    showSuggestion() {
      const next = state.suggestion;
      if (!next) return;
      stages.partial.face(next.mark);
      if (next.inside) look.open("partial", next.mark.at);
      if (next.partner && stages.full.view) stages.full.face(next.partner);
    },
    // Another mesh takes the result with it.
    mayReplace() {
      const lost = state.outcome && state.outcome.version !== downloaded;
      return !lost || confirm("Opening another mesh discards the current result, which has not been downloaded. Continue?");
    },
    saved(name) {
      if (name === "result.zip" || name === "project.nho") downloaded = shownOutcome;
    },
    busy, update, complain,
    chooseView(number) {
      const input = document.querySelectorAll('input[name="view"]')[number];
      if (!input.disabled) input.click();
    },
    help: () => find("#help-panel").showModal(),
  };
  const stages = { partial: new Stage("partial", page), full: new Stage("full", page) };
  const hover = new Hover(stages);
  const look = new Look(stages, () => repaint());
  const kept = new KeptLook(stages, look);
  const painter = new Painter(stages, hover, look);
  const measure = new Measure(stages, look, complain);
  const choices = new Choices(stages, page, () => {
    painter.painted = "";
    repaint();
  });

  new Completed(stages, look, page, () => shownOutcome);

  // ---- in step with the studio --------------------------------------------------------------
  async function update() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    do {
      again = false;
      try {
        await take(await server.json("state"));
      } catch (problem) {
        if (!again) complain(problem); // else it was about what has changed meanwhile
      }
    } while (again);
    fetching = false;
  }

  async function take(latest) {
    const known = state !== null, before = new Set(known ? state.pairs.map((pair) => pair.key) : []);
    const added = latest.pairs.filter((pair) => !before.has(pair.key));
    state = latest;
    complaint = null;
    if (added.length === 1 && known) chosen = added[0].key;
    for (const side in stages) {
      const shape = latest.shapes[side], figure = find(`figure[data-side="${side}"]`);
      figure.querySelector(".empty").hidden = Boolean(shape);
      figure.querySelector("figcaption .open").hidden = !shape;
      const name = figure.querySelector(".name");
      name.textContent = name.title = shape
        ? `${shape.name}, ${shape.vertices.toLocaleString("en")} vertices${shape.inPart ? " (drawn in part)" : ""}` : "";
      if (shape && shape.version !== stages[side].version) {
        shownOutcome = 0;
        painter.painted = "";
        await busy(side, () => stages[side].load(shape));
        look.apply(side);
      }
    }
    if (latest.outcome && latest.outcome.version !== shownOutcome) await showNewOutcome(latest.outcome);
    if (!latest.outcome) {
      shownOutcome = 0;
      hover.partners = null;
      find('input[name="view"][value="shape"]').checked = true;
    }
    find("#compare").disabled = !latest.comparable;
    if (!latest.comparable) find("#compare").value = "";
    panel.enableViews(latest.outcome);
    kept.restore(latest.look);
    batchTable.show(latest.batch);
    panel.showRecent(latest.recent, (key) => page.post("recent", { key }));
    look.setShapes(latest.shapes, latest.outcome ? latest.outcome.scale : 1);
    refresh();
    await painter.paint(shownOutcome);
    await choices.show(latest.choices);
  }

  async function showNewOutcome(outcome) {
    const first = !shownOutcome;
    await hover.load(outcome.version);
    shownOutcome = outcome.version;
    painter.painted = "";
    const { partial, full } = stages;
    partial.ring = full.ring = null;
    find("#readout").textContent = "";
    partial.view.home = outcome.rotation.flat();
    if (!first) return; // the user has found a view
    // Lay the scan beside the template as the match has found it, however the template is rotated.
    const transposed = (m) => [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => m[i]);
    partial.view.rotation = product(product(full.view.rotation, transposed(full.view.home)), partial.view.home);
    partial.view.depthIsOld = true;
    find("#link").checked = true;
    document.querySelector('input[name="view"][value="correspondence"]').checked = true;
    kept.changed();
  }

  function product(a, b) {
    return a.map((_, i) => [0, 1, 2].reduce((sum, k) => sum + a[3 * Math.floor(i / 3) + k] * b[3 * k + (i % 3)], 0));
  }

  function repaint() {
    painter.paint(shownOutcome).catch(complain);
  }

  function refresh() {
    if (!state) return;
    // A click completes the pair that was just begun, or a parked one that the user has chosen.
    const wanted = state.pairs.find((pair) => pair.key === chosen && !isComplete(pair) && pair.state !== "absent");
    state.chosenOpen = wanted ? wanted.key : state.open;
    const complete = state.pairs.filter(isComplete).length;
    const ready = state.shapes.partial && state.shapes.full && complete >= state.fewest;
    panel.showTask(complaint ? { ...state, notice: complaint } : state);
    pairList.show(state, page);
    panel.showHistory(state);
    panel.showJob(state, ready);
    panel.showOutcome(state);
    for (const stage of Object.values(stages)) stage.draw();
  }

  async function busy(side, work) {
    const sign = find(`figure[data-side="${side}"] .busy`);
    sign.hidden = false;
    try {
      await work();
    } finally {
      sign.hidden = true;
    }
  }

  // It stays until something goes well again.
  function complain(problem) {
    complaint = { text: problem.message, kind: "error" };
    panel.showNotice(complaint);
  }

  // ---- buttons ------------------------------------------------------------------------------
  const press = (selector, act) => find(selector).addEventListener("click", act);
  press("#undo", () => page.post("undo"));
  press("#redo", () => page.post("redo"));
  press("#clear", () => {
    const many = state.pairs.length;
    if (confirm(`Delete ${many === 1 ? "the only pair" : `all ${many} pairs`}? Undo brings them back.`)) page.post("clear");
  });
  press("#find", () => page.post("find"));
  press("#sample", () => page.post("sample"));
  press("#match", () => page.match());
  press("#cancel", () => page.post("cancel"));
  press("#help", () => page.help());
  press("#show-suggestion", () => page.showSuggestion());
  press("#reset", () => {
    for (const stage of Object.values(stages)) {
      if (stage.view) stage.view.reset();
      stage.draw();
    }
    kept.changed();
  });
  for (const input of document.querySelectorAll('input[name="view"]')) input.addEventListener("change", repaint);
  find("#save-anchors").addEventListener("change", (event) => {
    if (event.target.value) {
      const download = element("a", { href: `download/anchors${event.target.value}`, download: "" });
      download.click();
    }
    event.target.value = "";
  });
  server.json("formats").then((formats) => find("#save-anchors").append(
    ...formats.map(([suffix, words]) => element("option", { value: suffix, textContent: words }))));

  for (const button of document.querySelectorAll(".mirror")) {
    button.addEventListener("click", () => page.mayReplace() && busy(button.dataset.side, () => page.post("mirror", { side: button.dataset.side })));
  }

  installKeys(page);
  batchTable.install(page);
  installFiles(page);
  panel.showLegend("shape");
  server.listen((event) => {
    if (event.job && state && state.job) {
      state.job = event.job;
      panel.showJob(state, true);
    }
    if (event.revision && (!state || event.revision > state.revision)) update();
  }, update, complain);
  window.nhoStudio = { stages, page, state: () => state }; // for a look from the console
})();
