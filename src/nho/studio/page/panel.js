// The column on the right: what to do, the pairs, the running match and its result.
"use strict";

const GOOD = 8; // anchors from which on a wrong one is found, too
const NO_PARTNER = "rgb(92 96 106)"; // as the studio paints what has no partner

const find = (selector) => document.querySelector(selector);

function element(tag, about = {}, ...children) {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...children);
  return made;
}

function swatch(colour) {
  const made = element("span", { className: "swatch" });
  made.style.background = colour;
  return made;
}

// A share of 0 to 1 as people read it; what is there is never said to be nothing.
const share = (part) => (part < 0.01 ? "less than 1 %" : `${Math.round(100 * part)} %`);

const panel = {
  alone: 0, // share of the scan that has no partner

  // What the user should do now, and on which shape.
  nextStep(state) {
    const complete = state.pairs.filter(isComplete).length;
    if (!state.shapes.partial && !state.shapes.full) {
      return ["Open a scan (left) and a template (right): drop the files, or choose them.", null];
    }
    if (!state.shapes.partial) return ["Now open the scan (left): drop its file, or choose it.", "partial"];
    if (!state.shapes.full) return ["Now open the template (right): drop its file, or choose it.", "full"];
    if (state.job) return ["Wait, or go on looking: the shapes can be rotated meanwhile.", null];
    const open = state.pairs.find((pair) => pair.key === state.chosenOpen);
    if (open) {
      const side = open.partial ? "full" : "partial";
      const where = side === "full" ? "template" : "scan";
      const rest = isParked(open) ? " Esc leaves it parked." : "";
      return [`Click the partner of “${open.name}” on the ${where}.${rest}`, side];
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
    find("#recent").hidden = !state.recent.length;
    for (const button of document.querySelectorAll(".mirror")) button.disabled = !state.shapes[button.dataset.side];
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

  showHistory({ canUndo, canRedo, suggestion }) {
    find("#undo").disabled = !canUndo;
    find("#redo").disabled = !canRedo;
    find("#suggestion").hidden = !suggestion;
    if (suggestion) find("#suggestion-why").textContent = suggestion.why;
  },

  showJob({ job, fewest, shapes, pairs }, ready) {
    const some = pairs.filter(isComplete).length >= fewest;
    find("#find").disabled = Boolean(job) || !(shapes.partial && shapes.full);
    find("#find").textContent = some ? "Add what is missing" : "Find anchors";
    find("#job").hidden = !job;
    find("#match").disabled = Boolean(job) || !ready;
    find("#match").title = ready ? "Match (M)" : `Needs both shapes and ${fewest} pairs`;
    find("#match").textContent = !job ? "Match" : some ? "Matching…" : "Searching…"; // for anchors
    if (!job) return;
    panel.bar.to(job);
    const round = job.steps > 1 ? ` ${job.step}/${job.steps}` : "";
    find("#stage-name").textContent = job.words;
    find("#stage-name").title = `${job.stage}${round}${job.loss === null ? "" : `, loss ${job.loss.toPrecision(3)}`}`;
    const left = job.left === null ? "" : `, about ${Math.max(1, Math.round(job.left))} s left`;
    find("#time-left").textContent = `${job.elapsed.toFixed(1)} s${left}`;
  },

  // It creeps on between two events, never beyond what the stage can reach.
  bar: {
    to({ done, next, elapsed }) {
      clearInterval(panel.bar.creeping);
      const bar = find("#bar");
      if (elapsed < 1 && done === 0) bar.value = 0;
      bar.value = Math.max(bar.value, done);
      panel.bar.creeping = setInterval(() => {
        bar.value += 0.02 * Math.max(0, next - bar.value);
        if (find("#job").hidden) clearInterval(panel.bar.creeping);
      }, 100);
    },
  },

  enableViews(outcome) {
    for (const input of document.querySelectorAll('input[name="view"]')) {
      input.disabled = !outcome && input.value !== "shape";
    }
  },

  showOutcome(state) {
    const outcome = state.outcome;
    find("#outcome").hidden = find("#downloads").hidden = find("#made").hidden = !outcome;
    if (!outcome) return;
    find("#stale").hidden = !outcome.stale;
    panel.alone = outcome.no_partner || 0;
    find("#headline").hidden = !panel.alone;
    find("#headline").replaceChildren(swatch(NO_PARTNER), ` ${share(panel.alone)} of the scan’s area has no partner on the template`);
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

  showRecent(entries, open) {
    find("#recent").replaceChildren(...entries.map(({ key, names, seconds }) => {
      const when = new Date(1000 * seconds).toLocaleString();
      const button = element("button", { textContent: `${names}, ${when}` });
      button.addEventListener("click", () => open(key));
      return element("li", {}, button);
    }));
  },

  // `most` is the length at the end of a scale of distances.
  showLegend(view, most = null, unit = "") {
    const length = most === null ? "(being computed…)" : `${Number(most.toPrecision(3))} ${unit || "units"}`;
    const words = {
      shape: ["Drag rotates, the wheel zooms, Shift-drag pans."],
      correspondence: ["Same colour, same point; outside the region the template is faded."],
      region: [swatch("rgb(46 125 140)"), " covered by the scan ", swatch("rgb(222 222 222)"), " not covered"],
      misfit: ["Distance from the fitted template: 0 ", element("span", { className: "scale far" }), ` ${length}, on the scan`],
      swipe: ["Same colour, same point: on the left this match, on the right of the handle the one before it."],
      change: ["Distance between the partners of the two matches: 0 ", element("span", { className: "scale far" }), ` ${length}, on the scan`],
      confidence: ["Confidence 0 ", element("span", { className: "scale" }), " 1, on the scan"],
    };
    const alone = view !== "shape" && panel.alone ? [" ", swatch(NO_PARTNER), " no partner on the template"] : [];
    find("#legend").replaceChildren(...words[view], ...alone);
  },
};
