// What is drawn over a shape: rings around places, and the names of points.
"use strict";

// A ring around a place on the overlay, broken where the surface hides it.
function drawRing(pen, place) {
  pen.setLineDash(place.hidden ? [3, 3] : []);
  for (const [width, colour] of [[5, "#fff"], [2.5, "#111"]]) {
    pen.beginPath();
    pen.arc(place.x, place.y, 9, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
  pen.setLineDash([]);
}

const LONGEST_LABEL = 15; // letters

// A disc with the name of a point, or a pill where the name is longer than a number.
function drawLabel(pen, place, { label, fill, stroke = "#fff", large = false }) {
  const text = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  const radius = large ? 11 : 9;
  pen.font = "600 10px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const half = Math.max(radius, pen.measureText(text).width / 2 + 5);
  // A name near the edge of the picture moves inwards, so that it can be read.
  const width = pen.canvas.clientWidth, inside = place.x >= 0 && place.x <= width;
  const x = inside ? Math.min(Math.max(place.x, half + 2), width - half - 2) : place.x;
  pen.globalAlpha = place.hidden ? 0.28 : 1;
  pen.beginPath();
  pen.roundRect(x - half, place.y - radius, 2 * half, 2 * radius, radius);
  pen.fillStyle = fill;
  pen.fill();
  pen.lineWidth = large ? 3 : 1.6;
  pen.strokeStyle = stroke;
  pen.stroke();
  pen.fillStyle = "#fff";
  pen.fillText(text, x, place.y + 0.5);
  pen.globalAlpha = 1;
}
