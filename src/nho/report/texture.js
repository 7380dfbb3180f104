// The texture of a shape: its surface cut open along the seams, and the images on it.
"use strict";

const LARGEST_IMAGE = 4096; // pixels a side on the graphics card; larger ones are scaled down
const NO_IMAGE = [205, 201, 193]; // colour of triangles that no image belongs to

// An image as the graphics card gets it; `about` holds its name, width and height.
async function decodedImage(blob, about, largest) {
  const shrink = Math.min(1, largest / Math.max(about.width, about.height));
  const options = { premultiplyAlpha: "none", colorSpaceConversion: "none" };
  if (shrink < 1) {
    options.resizeWidth = Math.max(1, Math.round(shrink * about.width));
    options.resizeHeight = Math.max(1, Math.round(shrink * about.height));
    options.resizeQuality = "high";
  }
  try {
    return await createImageBitmap(blob, options);
  } catch {
    throw new Error(`${about.name}: the texture cannot be read, so the shape is shown without it; save it again as PNG or JPEG.`);
  }
}

class Texture {
  // `seams` holds `vertex`, `uv`, `faces` and `counts`, as nho.report.textures makes them; `images`
  // are decoded, one for each count.
  constructor(gl, view, seams, images) {
    this.gl = gl;
    this.program = shaderProgram(gl, TEXTURE_SHADER);
    this.layout = gl.createVertexArray();
    gl.bindVertexArray(this.layout);
    const spread = (values) => {
      const rows = new Float32Array(3 * seams.vertex.length);
      seams.vertex.forEach((vertex, row) => rows.set(values.subarray(3 * vertex, 3 * vertex + 3), 3 * row));
      return rows;
    };
    // The place of a checker is that in the image here.
    this.buffers = [[0, spread(view.positions), 3], [1, spread(view.normals), 3], [3, seams.uv, 2]].map(([slot, data, size]) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, size, gl.FLOAT, false, 0, 0);
      return buffer;
    });
    this.buffers.push(gl.createBuffer());
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.at(-1));
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, seams.faces, gl.STATIC_DRAW);
    gl.bindVertexArray(view.layout);
    const left = seams.faces.length / 3 - seams.counts.reduce((sum, count) => sum + count, 0);
    this.counts = [...seams.counts, left];
    const plain = new ImageData(new Uint8ClampedArray([...NO_IMAGE, 255]), 1, 1);
    this.images = [...images, plain].map((image) => this.uploaded(image));
  }

  uploaded(image) {
    const gl = this.gl, made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    return made;
  }

  draw() {
    const gl = this.gl;
    gl.bindVertexArray(this.layout);
    let start = 0;
    this.counts.forEach((count, number) => {
      gl.bindTexture(gl.TEXTURE_2D, this.images[number]);
      if (count) gl.drawElements(gl.TRIANGLES, 3 * count, gl.UNSIGNED_INT, 12 * start);
      start += count;
    });
  }

  dispose() {
    const gl = this.gl;
    for (const buffer of this.buffers) gl.deleteBuffer(buffer);
    for (const image of this.images) gl.deleteTexture(image);
    gl.deleteVertexArray(this.layout);
    gl.deleteProgram(this.program);
  }
}
