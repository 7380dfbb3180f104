// Several places where the scan may lie, side by side; the user takes one.
"use strict";

class Choices {
  constructor(stages, page, repaint) {
    Object.assign(this, { stages, page, repaint, shown: "" });
    find("#choices").addEventListener("cancel", () => page.post("dismiss"));
    find("#no-choice").addEventListener("click", () => page.post("dismiss"));
  }

  // `chances` of the places, the likeliest first.
  async show(chances) {
    const dialog = find("#choices"), want = chances.join();
    if (want === this.shown) return;
    this.shown = want;
    if (!chances.length) {
      dialog.close();
      return;
    }
    const cards = [];
    for (let number = 0; number < chances.length; number++) cards.push(await this.card(number, chances[number]));
    find("#choice-cards").replaceChildren(...cards);
    this.repaint();
    if (!dialog.open) dialog.showModal();
  }

  async card(number, chance) {
    const pictures = [];
    for (const side in this.stages) {
      const view = this.stages[side].view, kept = view.rotation;
      view.colours.choice = await server.numbers(`choice/${number}/${side}`, Uint8Array);
      view.rotation = view.home.slice();
      view.show("choice");
      view.draw();
      pictures.push(this.picture(view.canvas));
      view.rotation = kept;
      view.depthIsOld = true;
    }
    const words = `Take placement ${number + 1}, chance ${Math.round(100 * chance)} %`;
    const take = element("button", { className: "card", ariaLabel: words }, ...pictures,
      element("span", { textContent: `${number + 1}: chance ${Math.round(100 * chance)} %` }));
    take.addEventListener("click", () => this.page.post("choose", { key: number }));
    return take;
  }

  // What is drawn now, small; a drawing buffer is gone after the next one.
  picture(canvas) {
    const small = element("canvas", { width: 190, height: Math.round((190 * canvas.height) / canvas.width) });
    small.getContext("2d").drawImage(canvas, 0, 0, small.width, small.height);
    return small;
  }
}
