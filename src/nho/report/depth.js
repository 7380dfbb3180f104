// A small picture of distances, read back once per camera: it decides what is hidden.
"use strict";

const DEPTH_SCALE = 0.5; // size of the depth picture against the page's pixels

class DepthPicture {
  constructor(gl) {
    this.gl = gl;
    this.target = gl.createFramebuffer();
    this.colour = gl.createRenderbuffer();
    this.buffer = gl.createRenderbuffer();
  }

  // Of a view of this size on the page, drawn by `render`.
  read(pageWidth, pageHeight, render) {
    const gl = this.gl;
    const width = (this.width = Math.max(1, Math.round(pageWidth * DEPTH_SCALE)));
    const height = (this.height = Math.max(1, Math.round(pageHeight * DEPTH_SCALE)));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    for (const [buffer, format, slot] of [
      [this.colour, gl.RGBA8, gl.COLOR_ATTACHMENT0],
      [this.buffer, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT],
    ]) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, slot, gl.RENDERBUFFER, buffer);
    }
    gl.viewport(0, 0, width, height);
    render();
    this.pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, this.pixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // Distance from the eye; null where there is no surface.
  at(column, row) {
    if (column < 0 || row < 0 || column >= this.width || row >= this.height) return null;
    const at = 4 * ((this.height - 1 - row) * this.width + column), pixel = this.pixels;
    if (pixel[at + 3] === 0) return null;
    const share = (pixel[at] + pixel[at + 1] / 255 + pixel[at + 2] / 65025) / 255;
    return NEAR + share * (FAR - NEAR);
  }

  dispose() {
    this.gl.deleteFramebuffer(this.target);
    this.gl.deleteRenderbuffer(this.colour);
    this.gl.deleteRenderbuffer(this.buffer);
  }
}
