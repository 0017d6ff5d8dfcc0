// Colours along a network of any size: one texture of ends, one of bytes, one of colours, drawn by the map's own GL.

const WIDE = 1024, EDGE = [0.07, 0.12, 0.17, 1], CLEAR = [0, 0, 0, 0], PALE = [225, 229, 232], FADE = 80; // levels from pale to the colours, where nothing is pale
const VERTEX = `#version 300 es
uniform highp sampler2D ends; uniform highp sampler2D bytes; uniform mat4 m; uniform vec2 size; uniform float w;
out highp vec2 p; out highp float len; out highp float level;
void main() {
  int i = gl_VertexID / 6, c = gl_VertexID % 6; c = c < 3 ? c : (c == 3 ? 0 : c - 1);
  ivec2 q = ivec2(i % ${WIDE}, i / ${WIDE});
  vec4 ab = texelFetch(ends, q, 0), a = m * vec4(ab.xy, 0., 1.), b = m * vec4(ab.zw, 0., 1.);
  vec2 pa = a.xy / a.w * size, pb = b.xy / b.w * size, d = pb - pa;
  len = length(d); vec2 u = len > 0. ? d / len : vec2(1., 0.); float r = w * .5 + 1.;
  p = vec2(c < 2 ? -r : len + r, (c == 0 || c == 3) ? -r : r);
  vec2 at = pa + u * p.x + vec2(-u.y, u.x) * p.y;
  gl_Position = vec4(at / size, 0., 1.); level = texelFetch(bytes, q, 0).r;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colours; uniform vec4 one; uniform float w; uniform float cap;
in highp vec2 p; in highp float len; in highp float level; out vec4 colour;
void main() {
  float far = length(vec2(p.x - clamp(p.x, 0., len), p.y)) + (p.x < 0. || p.x > len ? cap : 0.);
  vec4 c = one.a > 0. ? one : texture(colours, vec2((level * 255. + .5) / 256., .5));
  colour = vec4(c.rgb, 1.) * (1. - smoothstep(w * .5 - .6, w * .5 + .6, far));
}`;

export class FieldLayer {
  constructor(network) {
    Object.assign(this, { id: 'field', type: 'custom', renderingMode: '2d', network });
    this.bytes = new Uint8Array(network.pieces).fill(255);
    this.colours = new Uint8Array(256 * 4).fill(255);
    const spans = [...network.lengths].sort((a, b) => a - b), middle = spans[spans.length >> 1] || 1;
    let drawn = 0, total = 0;
    for (let i = 0; i < network.pieces; i++) {
      const c = network.corners.subarray(4 * i, 4 * i + 4);
      drawn += Math.hypot(c[2] - c[0], c[3] - c[1]); total += network.to[i] - network.from[i];
    }
    this.typical = (middle * drawn) / (total || 1); // of an edge, on the plane
  }

  /** Show a view: bytes of the pieces, the stops of its colours, and whether nothing at all is pale. */
  show(bytes, stops, isSparse = false) {
    this.bytes = bytes ?? new Uint8Array(this.network.pieces).fill(255);
    const rgb = stops.map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));
    for (let i = 0; i < 255; i++) {
      const at = (i / 254) * (rgb.length - 1), k = Math.min(Math.floor(at), rgb.length - 2);
      for (let c = 0; c < 3; c++) this.colours[4 * i + c] = rgb[k][c] + (at - k) * (rgb[k + 1][c] - rgb[k][c]);
    }
    this.colours.set([190, 196, 202, 255], 1020);
    for (let i = 0; isSparse && i < FADE; i++) PALE.forEach((pale, c) => { this.colours[4 * i + c] = pale + (i / FADE) * (this.colours[4 * i + c] - pale); });
    this.isStale = true;
    this.map?.triggerRepaint();
  }

  /** Pixels: thinner where the edges are short on the screen. */
  width(zoom) {
    return Math.min(6.5, Math.max(1.4, 0.3 * this.typical * 512 * 2 ** zoom));
  }

  onAdd(map, gl) {
    this.map = map;
    const program = (this.program = gl.createProgram());
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source); gl.compileShader(shader); gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    this.at = Object.fromEntries(['ends', 'bytes', 'colours', 'm', 'size', 'w', 'one', 'cap'].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.vao = gl.createVertexArray();
    this.rows = Math.ceil(this.network.pieces / WIDE);
    const ends = new Float32Array(4 * WIDE * this.rows);
    ends.set(this.network.corners);
    this.textures = ['ends', 'bytes', 'colours'].map(() => gl.createTexture());
    this.#upload(gl, 0, gl.RGBA32F, WIDE, this.rows, gl.RGBA, gl.FLOAT, ends);
    this.isStale = true;
  }

  #upload(gl, unit, inside, wide, high, format, type, data) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, this.textures[unit]);
    for (const [name, value] of [[gl.UNPACK_FLIP_Y_WEBGL, 0], [gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, 0], [gl.UNPACK_ALIGNMENT, 1]]) gl.pixelStorei(name, value);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, wide, high, 0, format, type, data);
  }

  render(gl, { defaultProjectionData }) {
    const m = defaultProjectionData.mainMatrix, [cx, cy] = this.network.centre, M = new Float64Array(m);
    for (let r = 0; r < 4; r++) M[12 + r] = m[12 + r] + cx * m[r] + cy * m[4 + r]; // about the network's centre
    if (this.isStale) {
      const bytes = new Uint8Array(WIDE * this.rows);
      bytes.set(this.bytes);
      this.#upload(gl, 1, gl.R8, WIDE, this.rows, gl.RED, gl.UNSIGNED_BYTE, bytes);
      this.#upload(gl, 2, gl.RGBA8, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, this.colours);
      this.isStale = false;
    }
    gl.useProgram(this.program);
    gl.bindVertexArray(this.vao);
    for (const what of [gl.DEPTH_TEST, gl.STENCIL_TEST, gl.CULL_FACE]) gl.disable(what);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.textures.forEach((texture, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(this.at[['ends', 'bytes', 'colours'][unit]], unit);
    });
    const dense = devicePixelRatio, wide = this.width(this.map.getZoom());
    gl.uniformMatrix4fv(this.at.m, false, new Float32Array(M));
    gl.uniform2f(this.at.size, gl.drawingBufferWidth / 2, gl.drawingBufferHeight / 2);
    const passes = [[2.4, EDGE, 0], [0, CLEAR, 0], [0, CLEAR, 1e6]]; // a dark edge, the colours with round ends for the bends, and without: no end lies on a neighbour
    for (const [more, one, cap] of wide < 2.5 ? passes.slice(1, 2) : passes) {
      gl.uniform1f(this.at.w, (wide + more) * dense);
      gl.uniform1f(this.at.cap, cap);
      gl.uniform4fv(this.at.one, one);
      gl.drawArrays(gl.TRIANGLES, 0, 6 * this.network.pieces);
    }
    gl.bindVertexArray(null);
  }
}
