// The pairs of a batch as a table; a row opens in the studio.
"use strict";

const batchTable = {
  // `page` offers post(path, about).
  install(page) {
    batchTable.page = page;
    find("#to-batch").addEventListener("click", () => batchTable.reveal(true));
  },

  reveal(shown) {
    find("#batch").hidden = !shown;
    find("main").hidden = shown;
    find("#views").hidden = shown;
    find("#to-batch").hidden = shown;
  },

  show(batch) {
    if (!batch) return;
    const first = !find("#batch-folder").textContent;
    find("#batch-folder").textContent = batch.folder;
    find("#batch-rows").replaceChildren(...batch.rows.map((row) => batchTable.row(row)));
    if (first) batchTable.reveal(!batch.current);
  },

  row({ name, status, verdict, error, mean_confidence: confidence, suspects, warnings, seconds, version }) {
    const cell = (text) => element("td", { textContent: text ?? "–" });
    const open = element("button", { textContent: name, disabled: status !== "ok" });
    open.addEventListener("click", async () => {
      await batchTable.page.post("row", { name });
      batchTable.reveal(false);
    });
    const picture = element("td");
    if (status === "ok") picture.append(element("img", { src: `picture/${encodeURIComponent(name)}?v=${version}`, alt: "", width: 88, height: 66, loading: "lazy" }));
    return element("tr", { className: verdict === status ? status : "doubted" }, picture, element("td", {}, open), cell(error ? `${status}: ${error}` : verdict),
      cell(confidence === null ? null : confidence.toFixed(2)), cell(suspects), cell(warnings), cell(seconds === null ? null : seconds.toFixed(1)));
  },
};
