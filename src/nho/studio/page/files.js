// Files from the user: chosen, or dropped on a shape or anywhere else.
"use strict";

const MESH_SUFFIXES = [".ply", ".obj", ".off", ".stl", ".glb", ".gltf", ".vtk", ".vtp"];

const isMesh = (file) => MESH_SUFFIXES.some((suffix) => file.name.toLowerCase().endsWith(suffix));

// `page` offers: busy(side, work), update(), complain(problem), mayReplace().
function installFiles(page) {
  async function take(files, side) {
    const meshes = files.filter(isMesh);
    try {
      if (meshes.length > 1) throw new Error("One mesh at a time: the scan on the left, the template on the right.");
      if (meshes.length && side && !page.mayReplace()) return;
      // A mesh comes before landmarks that lie on it.
      for (const file of [...meshes, ...files.filter((other) => !meshes.includes(other))]) {
        await page.busy(side || "partial", () => server.upload(file, side));
      }
      await page.update();
    } catch (problem) {
      page.complain(problem);
    }
  }

  function choose(side, accept) {
    const input = find("#file");
    input.accept = accept;
    input.value = "";
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
      take([...event.dataTransfer.files], side);
    });
  }
  // A file beside the stages must not replace the page; it may hold pairs, which need no side.
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...event.dataTransfer.files], null);
  });
  find("#load-anchors").addEventListener("click", () => choose(null, ""));
}
