// Keys and gestures: one list that both the keyboard and the help panel read.
"use strict";

function installKeys(page) {
  const bindings = [
    ["Click", "place a mark, then its partner on the other shape"],
    ["Drag a mark", "move it"],
    ["Drag, wheel, right-drag", "rotate, zoom, pan the shape"],
    ["Arrows, + −, Enter", "rotate, zoom, place a mark at the crosshair of the focused shape (Tab); Shift+arrows pan"],
    ["Ctrl+Z", "undo", (e) => e.ctrl && !e.shift && e.key === "z", () => page.post("undo")],
    ["Ctrl+Y", "redo (also Ctrl+Shift+Z)", (e) => e.ctrl && (e.key === "y" || (e.shift && e.key === "z")), () => page.post("redo")],
    ["Delete", "delete the chosen pair", (e) => e.key === "delete" || e.key === "backspace", () => page.removeChosen()],
    ["F2", "rename the chosen pair", (e) => e.key === "f2", () => page.renameChosen()],
    ["F", "rotate both shapes to the chosen pair (or click its colour in the list)", (e) => !e.ctrl && e.key === "f", () => page.faceChosen()],
    ["Esc", "leave a landmark parked, discard the unfinished pair, or close this panel", (e) => e.key === "escape", () => page.escape()],
    ["M", "match", (e) => !e.ctrl && e.key === "m", () => page.match()],
    ["N", "show where the next anchor would help most", (e) => !e.ctrl && e.key === "n", () => page.showSuggestion()],
    ["1 – 5", "shape, correspondence, region, confidence, misfit", (e) => !e.ctrl && "12345".includes(e.key) && e.key.length === 1, (e) => page.chooseView(Number(e.key) - 1)],
    ["D", "measure the distance between two points of a shape", (e) => !e.ctrl && e.key === "d", () => find("#measure").click()],
    ["C", "checker on the correspondence", (e) => !e.ctrl && e.key === "c", () => find("#checker").click()],
    ["L", "link cameras", (e) => !e.ctrl && e.key === "l", () => find("#link").click()],
    ["R", "reset view", (e) => !e.ctrl && e.key === "r", () => find("#reset").click()],
    ["?", "this help", (e) => e.key === "?", () => page.help()],
  ];
  find("#help-keys").replaceChildren(...bindings.map(([keys, words]) => element("tr", {},
    element("td", {}, element("kbd", { textContent: keys })), element("td", { textContent: words }))));
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)
      && !["radio", "checkbox", "range"].includes(event.target.type);
    if (typing) {
      if (event.key === "Escape" && event.target.dataset.key) event.target.value = event.target.defaultValue;
      if (event.key === "Enter" || event.key === "Escape") event.target.blur();
      return;
    }
    if (event.altKey || document.querySelector("dialog[open]")) return; // the dialog closes itself on Esc
    const pressed = { key: event.key.toLowerCase(), ctrl: event.ctrlKey || event.metaKey, shift: event.shiftKey };
    for (const [, , matches, act] of bindings) {
      if (matches && matches(pressed)) {
        event.preventDefault();
        act(pressed);
        return;
      }
    }
  });
}
