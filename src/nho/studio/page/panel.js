// The column on the right: what to do, the pairs, the running match and its result.
"use strict";

const GOOD = 8; // anchors from which on a wrong one is found, too

const find = (selector) => document.querySelector(selector);

const isComplete = (pair) => Boolean(pair.partial && pair.full);

// Keys of the pairs that the shown match has found to be wrong.
const suspectsOf = ({ outcome }) => new Set(outcome && !outcome.stale ? outcome.suspects : []);

function element(tag, about = {}, ...children) {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...children);
  return made;
}

const panel = {
  // What the user should do now, and on which shape.
  nextStep(state) {
    const complete = state.pairs.filter(isComplete).length;
    if (!state.shapes.partial && !state.shapes.full) {
      return ["Open a scan (left) and a template (right): drop the files, or choose them.", null];
    }
    if (!state.shapes.partial) return ["Now open the scan (left): drop its file, or choose it.", "partial"];
    if (!state.shapes.full) return ["Now open the template (right): drop its file, or choose it.", "full"];
    const open = state.pairs.find((pair) => pair.key === state.chosenOpen);
    if (open) {
      const side = open.partial ? "full" : "partial";
      const where = side === "full" ? "template" : "scan";
      return [`Click the partner of “${open.name}” on the ${where}.`, side];
    }
    if (complete < state.fewest) {
      return [`Click a point on one shape, then the same point on the other. ${state.fewest - complete} more to go.`, null];
    }
    if (!state.outcome && complete < GOOD) {
      return [`Press Match, or mark some more first: ${GOOD} or more anchors are recommended.`, null];
    }
    if (!state.outcome) return ["Press Match. More anchors make it more accurate.", null];
    if (state.outcome.stale) return ["Anchors have changed: match again.", null];
    return ["Point at the scan to see partners. Where it is wrong, add an anchor and match again.", null];
  },

  showTask(state) {
    const [text, side] = panel.nextStep(state);
    find("#next-step").textContent = text;
    find("#sample").hidden = Boolean(state.shapes.partial || state.shapes.full);
    for (const box of document.querySelectorAll(".stage")) {
      box.classList.toggle("wanted", box.dataset.shape === side);
    }
    panel.showNotice(state.notice);
  },

  showNotice({ text, kind }) {
    const notice = find("#notice");
    notice.hidden = !text;
    notice.textContent = text;
    notice.className = kind;
  },

  // Rows stay the same elements as long as their pairs live, so that focus and clicks are not lost.
  rows: new Map(),

  newRow(key, page) {
    const row = element("li");
    const dot = element("span", { className: "dot", title: "Double-click: rotate both shapes to it (F)" });
    dot.style.background = markColour(key);
    const name = element("input", { maxLength: 80, ariaLabel: "Name" });
    name.dataset.key = row.dataset.key = key;
    name.addEventListener("change", () => page.rename(key, name.value));
    name.addEventListener("focus", () => page.choose(key));
    const remove = element("button", { className: "delete", textContent: "×", title: "Delete" });
    remove.addEventListener("click", (event) => {
      event.stopPropagation();
      page.remove(key);
    });
    row.append(dot, name, element("span", { className: "state" }), remove);
    row.addEventListener("click", () => page.choose(key));
    row.addEventListener("dblclick", (event) => event.target !== name && page.faceChosen());
    row.addEventListener("pointerenter", () => page.pointAt(key));
    row.addEventListener("pointerleave", () => page.pointAt(null));
    return row;
  },

  showPairs(state, page) {
    const list = find("#pairs"), keys = new Set(state.pairs.map((pair) => pair.key));
    for (const [key, row] of panel.rows) {
      if (keys.has(key)) continue;
      row.remove();
      panel.rows.delete(key);
    }
    const suspects = suspectsOf(state);
    state.pairs.forEach((pair, number) => {
      if (!panel.rows.has(pair.key)) panel.rows.set(pair.key, panel.newRow(pair.key, page));
      const row = panel.rows.get(pair.key), name = row.querySelector("input");
      if (list.children[number] !== row) list.insertBefore(row, list.children[number] || null);
      name.defaultValue = pair.name;
      if (name !== document.activeElement) name.value = pair.name; // a name is being typed
      row.querySelector(".delete").ariaLabel = `Delete ${pair.name}`;
      const missing = !pair.partial ? "scan?" : !pair.full ? "template?" : "";
      row.querySelector(".state").textContent = suspects.has(pair.key) ? "suspect" : missing;
      row.classList.toggle("suspect", suspects.has(pair.key));
      row.classList.toggle("chosen", page.isHighlighted(pair.key));
      row.title = ["partial", "full"].filter((side) => pair[side])
        .map((side) => `${side === "partial" ? "scan" : "template"} vertex ${pair[side].vertex}`).join(" – ");
    });
    const complete = state.pairs.filter(isComplete).length;
    find("#count").textContent = complete ? `${complete} complete` : "";
    find("#clear").disabled = find("#save-anchors").disabled = !state.pairs.length;
    find("#undo").disabled = !state.canUndo;
    find("#redo").disabled = !state.canRedo;
    find("#suggestion").hidden = !state.suggestion;
    if (state.suggestion) find("#suggestion-why").textContent = state.suggestion.why;
  },

  showJob({ job, fewest }, ready) {
    find("#job").hidden = !job;
    find("#match").disabled = Boolean(job) || !ready;
    find("#match").title = ready ? "Match (M)" : `Needs both shapes and ${fewest} pairs`;
    find("#match").textContent = job ? "Matching…" : "Match";
    if (!job) return;
    find("#bar").value = job.done;
    const round = job.steps > 1 ? ` ${job.step}/${job.steps}` : "";
    const loss = job.loss === null ? "" : `, loss ${job.loss.toPrecision(3)}`;
    find("#stage-name").textContent = `${job.stage}${round}${loss}`;
    const left = job.left === null ? "" : `, about ${Math.max(1, Math.round(job.left))} s left`;
    find("#time-left").textContent = `${job.elapsed.toFixed(1)} s${left}`;
    find("#losses").style.display = job.losses.length > 1 ? "block" : "none";
    const most = Math.max(...job.losses), least = Math.min(...job.losses), span = most - least || 1;
    find("#losses polyline").setAttribute("points", job.losses.map((loss, i) =>
      `${(300 * i) / (job.losses.length - 1 || 1)},${56 - (52 * (loss - least)) / span}`).join(" "));
  },

  showOutcome(state) {
    const outcome = state.outcome;
    find("#outcome").hidden = !outcome;
    for (const input of document.querySelectorAll('input[name="view"]')) {
      input.disabled = !outcome && input.value !== "shape";
    }
    if (!outcome) return;
    find("#stale").hidden = !outcome.stale;
    const rows = [
      ["Matched", `${(100 * outcome.matched).toFixed(1)} % of the scan’s vertices`],
      ["Region", `${(100 * outcome.region).toFixed(1)} % of the template’s area`],
      ["Mean confidence", outcome.confidence === null ? "–" : outcome.confidence.toFixed(2)],
      ["Time", `${outcome.seconds.toFixed(1)} s`],
    ];
    if (Math.abs(outcome.scale - 1) > 1e-6) rows.push(["Scale, scan to template", outcome.scale.toPrecision(4)]);
    if (outcome.status !== "ok") rows.push(["Status", outcome.status]);
    find("#figures").replaceChildren(...rows.flatMap(([name, value]) => [
      element("dt", { textContent: name }), element("dd", { textContent: value })]));
    const listed = (texts) => texts.map((text) => element("li", { textContent: text }));
    find("#warnings").replaceChildren(...listed(outcome.warnings));
    find("#notes").hidden = !outcome.notes.length;
    find("#notes summary").textContent = `${outcome.notes.length} note${outcome.notes.length === 1 ? "" : "s"}`;
    find("#notes ul").replaceChildren(...listed(outcome.notes));
  },

  showLegend(view) {
    const swatch = (colour) => {
      const made = element("span", { className: "swatch" });
      made.style.background = colour;
      return made;
    };
    const words = {
      shape: ["Drag to rotate, wheel to zoom, right-drag or Shift-drag to pan. Drag a mark to correct it."],
      correspondence: ["Same colour, same point. ", swatch("rgb(150 150 150)"), " no match; outside the region the template is faded."],
      region: [swatch("rgb(46 125 140)"), " covered by the scan ", swatch("rgb(222 222 222)"), " not covered"],
      confidence: ["Confidence 0 ", element("span", { className: "scale" }), " 1, on the scan"],
    };
    find("#legend").replaceChildren(...words[view]);
  },
};
