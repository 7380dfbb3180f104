// What the pointer shows: the vertex under it, its partner on the other shape, and their scores.
"use strict";

const IN_REGION = 0.5; // region score from which on a template vertex is covered by the scan

class Hover {
  constructor(stages) {
    this.stages = stages;
    this.partners = null;
  }

  async load(version) {
    const array = (name, Kind) => server.numbers(`outcome/${name}?version=${version}`, Kind);
    const [place, vertex, confidence, region] = await Promise.all([
      array("partner", Float32Array), array("partnerVertex", Int32Array),
      array("confidence", Float32Array), array("regionScore", Float32Array),
    ]);
    this.partners = { place, vertex, confidence, region };
  }

  // Colours of the scan, faded to grey where the match is in doubt.
  doubted(colours) {
    const { confidence, vertex } = this.partners, faded = new Uint8Array(colours.length);
    for (let i = 0; i < colours.length; i++) {
      const row = Math.floor(i / 3); // what has no partner keeps its colour: that is no doubt
      const sure = vertex[row] < 0 ? 1 : Math.min(Math.max(confidence[row] || 0, 0), 1);
      faded[i] = sure * colours[i] + (1 - sure) * 245;
    }
    return faded;
  }

  // The scan's row whose partner is nearest to a place on the template; -1 without any.
  source(point) {
    const { place, vertex } = this.partners;
    let best = -1, least = Infinity;
    for (let row = 0, at = 0; row < vertex.length; row++, at += 3) {
      if (vertex[row] < 0) continue;
      const gap = (place[at] - point[0]) ** 2 + (place[at + 1] - point[1]) ** 2 + (place[at + 2] - point[2]) ** 2;
      if (gap < least) [best, least] = [row, gap];
    }
    return best;
  }

  show(side, row) {
    const { partial, full } = this.stages;
    partial.ring = full.ring = null; // also the one of an earlier match or place
    let text = "";
    if (side === "partial" && row >= 0) text = this.onScan(row);
    if (side === "full" && row >= 0) text = this.onTemplate(row);
    find("#readout").textContent = text;
    partial.draw();
    full.draw();
  }

  onScan(row) {
    const { partial, full } = this.stages, partners = this.partners;
    partial.ring = partial.view.vertex(row);
    const text = `Scan vertex ${partial.number[row]}`;
    if (!partners) return text;
    const to = partners.vertex[row];
    if (to < 0) return `${text} → no partner`;
    full.ring = partners.place.subarray(3 * row, 3 * row + 3);
    return `${text} → template vertex ${to}, confidence ${partners.confidence[row].toFixed(2)}`;
  }

  onTemplate(row) {
    const { partial, full } = this.stages, partners = this.partners;
    full.ring = full.view.vertex(row);
    const text = `Template vertex ${full.number[row]}`;
    if (!partners) return text;
    const score = `region score ${partners.region[row].toFixed(2)}`;
    const from = partners.region[row] >= IN_REGION ? this.source(full.ring) : -1;
    if (from < 0) return `${text} is not on the scan, ${score}`;
    partial.ring = partial.view.vertex(from);
    return `${text} ← scan vertex ${partial.number[from]}, ${score}`;
  }
}
