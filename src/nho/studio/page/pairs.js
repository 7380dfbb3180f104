// The lists of pairs: those that count, and below them landmarks that wait for a partner.
"use strict";

const isComplete = (pair) => Boolean(pair.partial && pair.full);

const PARKED = "#5f6870"; // colour of marks without a partner

const isParked = (pair) => !isComplete(pair) && pair.state !== "begun";

// Keys of the pairs that the shown match has found to be wrong.
const suspectsOf = ({ outcome }) => new Set(outcome && !outcome.stale ? outcome.suspects : []);

const pairList = {
  // Rows stay the same elements as long as their pairs live, so that focus and clicks are not lost.
  rows: new Map(),

  newRow(key, page) {
    const row = element("li");
    const dot = element("button", { className: "dot", title: "Rotate both shapes to it (F)" });
    dot.addEventListener("click", (event) => {
      event.stopPropagation();
      page.choose(key);
      page.faceChosen();
    });
    const name = element("input", { maxLength: 80, ariaLabel: "Name" });
    name.dataset.key = row.dataset.key = key;
    name.addEventListener("change", () => page.rename(key, name.value));
    name.addEventListener("focus", () => page.choose(key));
    const absent = element("button", { className: "absent", hidden: true });
    absent.addEventListener("click", (event) => {
      event.stopPropagation();
      page.post("put", { key, state: row.classList.contains("gone") ? "parked" : "absent" });
    });
    const remove = element("button", { className: "delete", textContent: "×", title: "Delete" });
    remove.addEventListener("click", (event) => {
      event.stopPropagation();
      page.remove(key);
    });
    row.append(dot, name, element("span", { className: "state" }), absent, remove);
    row.addEventListener("click", () => page.choose(key));
    row.addEventListener("pointerenter", () => page.pointAt(key));
    row.addEventListener("pointerleave", () => page.pointAt(null));
    return row;
  },

  show(state, page) {
    const keys = new Set(state.pairs.map((pair) => pair.key));
    for (const [key, row] of pairList.rows) {
      if (keys.has(key)) continue;
      row.remove();
      pairList.rows.delete(key);
    }
    const parked = state.pairs.filter(isParked);
    // What is wrong comes first: it is what the user looks for.
    const suspects = suspectsOf(state), wrong = (pair) => Number(suspects.has(pair.key));
    const counted = state.pairs.filter((pair) => !isParked(pair)).sort((a, b) => wrong(b) - wrong(a));
    pairList.fill(find("#pairs"), counted, state, page);
    pairList.fill(find("#parked-list"), parked, state, page);
    find("#parked").hidden = !parked.length;
    const gone = parked.filter((pair) => pair.state === "absent").length;
    find("#parked summary").textContent = `${parked.length} without a partner`
      + (gone ? `, ${gone} of them not on the other shape` : "");
    const complete = state.pairs.filter(isComplete).length;
    find("#count").textContent = complete ? `${complete} complete` : "";
    find("#clear").disabled = find("#save-anchors").disabled = !state.pairs.length;
  },

  fill(list, pairs, state, page) {
    const suspects = suspectsOf(state);
    pairs.forEach((pair, number) => {
      if (!pairList.rows.has(pair.key)) pairList.rows.set(pair.key, pairList.newRow(pair.key, page));
      const row = pairList.rows.get(pair.key), name = row.querySelector("input");
      if (list.children[number] !== row) list.insertBefore(row, list.children[number] || null);
      name.defaultValue = pair.name;
      if (name !== document.activeElement) name.value = pair.name; // a name is being typed
      row.querySelector(".delete").ariaLabel = `Delete ${pair.name}`;
      const dot = row.querySelector(".dot");
      dot.ariaLabel = `Show ${pair.name}`;
      dot.style.background = page.colourOf(pair); // as on the shapes
      const only = pair.partial ? "scan" : "template", other = pair.partial ? "template" : "scan";
      const absent = row.querySelector(".absent"), gone = pair.state === "absent";
      absent.hidden = !isParked(pair);
      absent.textContent = gone ? "↺" : "∅";
      absent.title = absent.ariaLabel = gone ? `${pair.name}: park it again` : `${pair.name} is not on the ${other}`;
      row.querySelector(".state").textContent = suspects.has(pair.key) ? "suspect"
        : isComplete(pair) ? "" : gone ? `not on ${other}` : isParked(pair) ? `on ${only}` : `${other}?`;
      row.classList.toggle("suspect", suspects.has(pair.key));
      row.classList.toggle("gone", gone);
      row.classList.toggle("chosen", page.isHighlighted(pair.key));
      row.title = ["partial", "full"].filter((side) => pair[side])
        .map((side) => `${side === "partial" ? "scan" : "template"} vertex ${pair[side].vertex}`).join(" – ");
    });
  },
};
