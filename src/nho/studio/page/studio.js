// The page: keeps both stages and the panel in step with the state of the studio.
"use strict";

(() => {
  let state = null, chosen = null, pointed = null, complaint = null, fetching = false, again = false;
  let shownOutcome = 0, painted = "", downloaded = 0; // versions of results

  const page = {
    marksOn(side) {
      if (!state) return [];
      const suspects = suspectsOf(state);
      const marks = state.pairs.filter((pair) => pair[side]).map((pair) => ({
        key: pair.key, at: pair[side].at, label: pair.name, name: pair.name,
        colour: suspects.has(pair.key) ? "#c62828" : markColour(pair.key), suspect: suspects.has(pair.key),
      }));
      const next = state.suggestion && (side === "partial" ? state.suggestion.mark : state.suggestion.partner);
      if (next) marks.push({ key: null, at: next.at, label: "+", colour: "#b45f06", suspect: false });
      return marks;
    },
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
        }
      }
    },
    click(side, ray) {
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
      if (state.chosenOpen !== null) page.remove(state.chosenOpen);
    },
    faceChosen() {
      const pair = state.pairs.find((other) => other.key === chosen);
      for (const side in stages) if (pair && pair[side]) stages[side].face(pair[side]);
    },
    showSuggestion() {
      const next = state.suggestion;
      if (!next) return;
      stages.partial.face(next.mark);
      if (next.partner && stages.full.view) stages.full.face(next.partner);
    },
    // Another mesh takes the result with it.
    mayReplace() {
      const lost = state.outcome && state.outcome.version !== downloaded;
      return !lost || confirm("Opening another mesh discards the current result, which has not been downloaded. Continue?");
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
      figure.querySelector(".name").textContent = shape
        ? `${shape.name}, ${shape.vertices.toLocaleString("en")} vertices${shape.inPart ? " (drawn in part)" : ""}` : "";
      if (shape && shape.version !== stages[side].version) {
        shownOutcome = 0;
        painted = "";
        await busy(side, () => stages[side].load(shape));
      }
    }
    if (latest.outcome && latest.outcome.version !== shownOutcome) await showNewOutcome(latest.outcome);
    if (!latest.outcome) {
      shownOutcome = 0;
      hover.partners = null;
      find('input[name="view"][value="shape"]').checked = true;
    }
    refresh();
    await paint();
  }

  async function showNewOutcome(outcome) {
    const first = !shownOutcome;
    await hover.load(outcome.version);
    shownOutcome = outcome.version;
    painted = "";
    const { partial, full } = stages;
    partial.view.home = outcome.rotation.flat();
    if (!first) return; // the user has found a view
    // Lay the scan beside the template as the match has found it, however the template is rotated.
    const transposed = (m) => [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => m[i]);
    partial.view.rotation = product(product(full.view.rotation, transposed(full.view.home)), partial.view.home);
    partial.view.depthIsOld = true;
    find("#link").checked = true;
    document.querySelector('input[name="view"][value="correspondence"]').checked = true;
  }

  function product(a, b) {
    return a.map((_, i) => [0, 1, 2].reduce((sum, k) => sum + a[3 * Math.floor(i / 3) + k] * b[3 * k + (i % 3)], 0));
  }

  // The colours of the chosen view; each is loaded when it is first looked at.
  async function paint() {
    const view = find('input[name="view"]:checked').value;
    panel.showLegend(view);
    const want = `${view} ${shownOutcome}`;
    if (want === painted) return;
    painted = want;
    for (const side in stages) {
      const stage = stages[side];
      const name = view === "correspondence" && side === "full" ? "faded" : view;
      const known = view === "shape" ? stage.view && stage.view.colours.shape
        : await server.numbers(`outcome/${side}/${name}?version=${shownOutcome}`, Uint8Array);
      if (want !== painted) return;
      stage.show(view, known);
    }
  }

  function refresh() {
    if (!state) return;
    const open = state.pairs.filter((pair) => !isComplete(pair));
    const wanted = open.find((pair) => pair.key === chosen) || open[0];
    state.chosenOpen = wanted ? wanted.key : null;
    const complete = state.pairs.length - open.length;
    const ready = state.shapes.partial && state.shapes.full && complete >= state.fewest;
    panel.showTask(complaint ? { ...state, notice: complaint } : state);
    panel.showPairs(state, page);
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
  press("#clear", () => page.post("clear"));
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
  });
  for (const input of document.querySelectorAll('input[name="view"]')) input.addEventListener("change", () => paint().catch(complain));
  find("#save-anchors").addEventListener("change", (event) => {
    if (event.target.value) {
      const download = element("a", { href: `download/anchors${event.target.value}`, download: "" });
      download.click();
    }
    event.target.value = "";
  });
  server.json("formats").then((formats) => find("#save-anchors").append(
    ...formats.map(([suffix, words]) => element("option", { value: suffix, textContent: words }))));

  for (const download of document.querySelectorAll(".downloads a")) {
    download.addEventListener("click", () => { downloaded = shownOutcome; });
  }

  installKeys(page);
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
