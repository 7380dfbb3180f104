// Files from the user: chosen, or dropped on a shape or anywhere else.
"use strict";

const MESH_SUFFIXES = [".ply", ".obj", ".off", ".stl", ".glb", ".gltf", ".vtk", ".vtp"];
// What belongs to a mesh: materials, images and buffers.
const PART_SUFFIXES = [".mtl", ".bin", ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".tga", ".webp"];
const OTHER = { partial: "full", full: "partial" };

const endsIn = (suffixes) => (file) => suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
const isMesh = endsIn(MESH_SUFFIXES), isPart = endsIn(PART_SUFFIXES);

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

// Asks which of two meshes is the scan; null if the user gives up.
function askScan(files) {
  const dialog = find("#which-scan");
  find("#two-meshes").replaceChildren(...files.map((file, number) =>
    element("button", { value: String(number), textContent: file.name })));
  return new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(files[dialog.returnValue] || null), { once: true });
    dialog.showModal();
  });
}

// `page` offers: busy(side, work), update(), complain(problem), mayReplace(), saved(name),
// sendLook().
function installFiles(page) {
  async function take(files, side) {
    const meshes = files.filter(isMesh), parts = files.filter(isPart);
    const others = files.filter((file) => !isMesh(file) && !isPart(file));
    try {
      if (parts.length && !meshes.length) throw new Error(`${parts[0].name} belongs to a mesh: drop or choose both together.`);
      if (meshes.length > 2) throw new Error("Two meshes at most: the scan and the template.");
      if (meshes.length && (side || meshes.length === 2) && !page.mayReplace()) return;
      const scan = meshes.length === 2 ? await askScan(meshes) : null;
      if (meshes.length === 2 && !scan) return;
      // A mesh comes before landmarks that lie on it.
      for (const file of meshes) {
        const where = scan ? (file === scan ? "partial" : "full") : side;
        await page.busy(where || "partial", () => server.upload(file, where, parts));
      }
      if (others.some((file) => file.name.toLowerCase().endsWith(".nho")) && !page.mayReplace()) return;
      // Two files of landmarks cannot both belong to the shape that they fell on.
      await takeLandmarks(others, others.length === 2 ? null : side);
      await page.update();
    } catch (problem) {
      await page.update();
      page.complain(problem);
    }
  }

  // Each goes to the shape that it was dropped on or fits; two are of both shapes.
  async function takeLandmarks(files, side) {
    const two = files.length === 2 && !side;
    for (const file of two ? files.slice(1) : files) {
      const answer = await server.upload(file, side, two ? files.slice(0, 1) : []);
      if (answer.side) continue;
      const where = await askSide(file.name);
      if (!where) return;
      await server.upload(file, where);
      if (two) await server.upload(files[0], OTHER[where]);
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
      button.addEventListener("click", () => choose(side, [...MESH_SUFFIXES, ...PART_SUFFIXES].join(), true));
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
        if (link.closest("#project")) await page.sendLook();
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
