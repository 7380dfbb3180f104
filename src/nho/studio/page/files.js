// Files from the user: chosen, or dropped on a shape or anywhere else.
"use strict";

const MESH_SUFFIXES = [".ply", ".obj", ".off", ".stl", ".glb", ".gltf", ".vtk", ".vtp"];
const OTHER = { partial: "full", full: "partial" };

const isMesh = (file) => MESH_SUFFIXES.some((suffix) => file.name.toLowerCase().endsWith(suffix));

// Asks which shape a file belongs to; null if the user gives up.
function askSide(name) {
  const dialog = find("#which");
  find("#which-file").textContent = name;
  return new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true });
    dialog.showModal();
  });
}

// `page` offers: busy(side, work), update(), complain(problem), mayReplace().
function installFiles(page) {
  async function take(files, side) {
    const meshes = files.filter(isMesh), others = files.filter((file) => !meshes.includes(file));
    try {
      if (meshes.length > 1) throw new Error("One mesh at a time: the scan on the left, the template on the right.");
      if (meshes.length && side && !page.mayReplace()) return;
      // A mesh comes before landmarks that lie on it.
      for (const file of meshes) await page.busy(side || "partial", () => server.upload(file, side));
      if (others.some((file) => file.name.toLowerCase().endsWith(".nho")) && !page.mayReplace()) return;
      await takeLandmarks(others, side);
      await page.update();
    } catch (problem) {
      await page.update();
      page.complain(problem);
    }
  }

  // Each goes to the shape that it was dropped on or fits; of two, the other one needs no question.
  async function takeLandmarks(files, side) {
    const unsure = [];
    let taken = null;
    for (const file of files) {
      const answer = await (await server.upload(file, side)).json();
      if (answer.side) taken = answer.side;
      else unsure.push(file);
    }
    for (const file of unsure) {
      const where = (files.length === 2 && OTHER[taken]) || await askSide(file.name);
      if (!where) return;
      await server.upload(file, where);
      taken = where;
    }
  }

  function choose(side, accept, multiple = false) {
    const input = find("#file");
    Object.assign(input, { accept, multiple, value: "" });
    input.onchange = () => take([...input.files], side);
    input.click();
  }

  for (const figure of document.querySelectorAll("figure[data-side]")) {
    const side = figure.dataset.side, box = figure.querySelector(".stage");
    for (const button of figure.querySelectorAll("button.open")) {
      button.addEventListener("click", () => choose(side, MESH_SUFFIXES.join()));
    }
    box.addEventListener("dragover", () => box.classList.add("over"));
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      event.stopPropagation();
      box.classList.remove("over");
      const dropped = [...event.dataTransfer.files];
      // Two files of landmarks cannot both belong to the shape that they fell on.
      take(dropped, dropped.filter((file) => !isMesh(file)).length === 2 ? null : side);
    });
  }
  // A file beside the stages must not replace the page; landmarks go where they fit.
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...event.dataTransfer.files], null);
  });
  find("#open-project").addEventListener("click", () => choose(null, ".nho"));
  // A file that cannot be made is told on the page, not saved in place of what was wanted.
  for (const link of document.querySelectorAll('a[href^="download/"]')) {
    link.addEventListener("click", async (event) => {
      if (link.dataset.ready) return;
      event.preventDefault();
      link.ariaBusy = "true";
      try {
        const answer = await server.ask(link.getAttribute("href")), body = await answer.blob();
        const [, name] = /filename="(.*)"/.exec(answer.headers.get("Content-Disposition"));
        const save = element("a", { href: URL.createObjectURL(body), download: name });
        save.dataset.ready = "yes";
        save.click();
        setTimeout(() => URL.revokeObjectURL(save.href), 60000);
        page.saved(name);
      } catch (problem) {
        page.complain(problem);
      } finally {
        link.ariaBusy = "false";
      }
    });
  }
  find("#load-anchors").addEventListener("click", () => choose(null, "", true));
}
