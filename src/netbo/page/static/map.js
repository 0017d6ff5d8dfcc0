// The map: colours along the edges, marks, names, the way to a place; taps become places of the network.

import { $, button, fill, h, number } from './dom.js';
import { FieldLayer } from './field.js';

export const VIEWS = {
  mean: ['Estimate', 'what is expected'], sd: ['Uncertainty', 'pale near values'],
  acquisition: ['Where next', 'what a value would tell'], probability: ['Where best', 'where the best value may be'],
};
const FACES = { observed: '#ffffff', failed: '#ffffff', next: '#56b4e9', mine: '#12303f', recommended: '#c0392b', waiting: '#d9dee2' };
const INK = '#22272e', PAPER = '#f4f3ef', NAMED = 60;
const RANK = { observed: 1, failed: 2, finding: 3, waiting: 4, next: 5, recommended: 6, mine: 7, tap: 8, here: 9 };

/** A mark as an image: what it is stands in its name, as in mine-3. */
function picture(name) {
  const [kind, text] = [name.split('-')[0], name.slice(name.indexOf('-') + 1)], r = 2;
  const c = document.createElement('canvas'), g = c.getContext('2d');
  const size = { mine: 34, name: 0, recommended: 30, here: 26, tap: 30, finding: 22, next: 24, waiting: 20 }[kind] ?? 16;
  if (kind === 'name') {
    g.font = `600 ${12 * r}px system-ui`;
    c.width = g.measureText(text).width + 10 * r; c.height = 18 * r;
  } else c.width = c.height = size * r;
  g.scale(r, r);
  const m = size / 2, ring = (radius, face, edge, wide = 2) => { g.beginPath(); g.arc(m, m, radius, 0, 7); g.fillStyle = face; g.fill(); g.lineWidth = wide; g.strokeStyle = edge; g.stroke(); };
  const shape = (points, face) => { g.beginPath(); points.forEach(([x, y]) => g.lineTo(m + x, m + y)); g.closePath(); g.lineWidth = 3; g.strokeStyle = '#fff'; g.stroke(); g.fillStyle = face; g.fill(); g.lineWidth = 1.2; g.strokeStyle = INK; g.stroke(); };
  if (kind === 'name') {
    g.font = '600 12px system-ui'; g.textBaseline = 'middle'; g.lineWidth = 3.5; g.lineJoin = 'round';
    g.strokeStyle = 'rgba(255,255,255,.92)'; g.strokeText(text, 5, 9); g.fillStyle = INK; g.fillText(text, 5, 9);
  } else if (kind === 'mine') {
    ring(14, FACES.mine, '#fff', 3);
    g.fillStyle = '#fff'; g.font = 'bold 16px system-ui'; g.textAlign = 'center'; g.textBaseline = 'middle'; g.fillText(text, m, m + 1);
  } else if (kind === 'recommended') shape(Array.from({ length: 10 }, (_, k) => { const a = (Math.PI * k) / 5 - Math.PI / 2, d = k % 2 ? 5 : 12; return [d * Math.cos(a), d * Math.sin(a)]; }), FACES.recommended);
  else if (kind === 'next' || kind === 'waiting') shape([[0, -m + 3], [m - 3, 0], [0, m - 3], [-m + 3, 0]], FACES[kind]);
  else if (kind === 'finding') shape([[0, -m + 3], [m - 2, m - 3], [-m + 2, m - 3]], '#e8b800');
  else if (kind === 'here') { ring(11, 'rgba(0,114,178,.25)', 'rgba(0,114,178,.5)', 1); ring(6, '#0072b2', '#fff', 2.5); }
  else if (kind === 'tap') { ring(11, 'rgba(255,255,255,.35)', INK, 2.5); ring(2.5, INK, '#fff', 1); }
  else {
    ring(5, FACES[kind] ?? '#fff', INK, 1.6);
    if (kind === 'failed') { g.beginPath(); for (const [a, b] of [[-3, -3], [-3, 3]]) { g.moveTo(m + a, m + b); g.lineTo(m - a, m - b); } g.lineWidth = 1.6; g.stroke(); }
  }
  return g.getImageData(0, 0, c.width, c.height);
}

const features = (list) => ({ type: 'FeatureCollection', features: list });

export class Chart {
  constructor(network, { tapped, background }) {
    Object.assign(this, { network, tapped, view: 'mean', marks: [], tap: null });
    this.field = new FieldLayer(network);
    this.#controls();
    this.ready = this.#open(background).catch((error) => this.#plan(error));
  }

  async #open(background) {
    if (!window.maplibregl) throw new Error('the map engine is not in this page');
    const tiles = background && this.network.earth;
    const map = (this.map = new maplibregl.Map({
      container: 'map', renderWorldCopies: false, attributionControl: false, fadeDuration: 0, dragRotate: false, pitchWithRotate: false,
      maxZoom: 22, canvasContextAttributes: { antialias: true }, bounds: this.#bounds(), fitBoundsOptions: { padding: this.#padding() },
      style: { version: 8,
        sources: { ...(tiles && { tiles: { type: 'raster', tiles: [background.url], tileSize: 256 } }), way: { type: 'geojson', data: features([]) },
          parts: { type: 'geojson', data: features([]) }, names: { type: 'geojson', data: features([]) }, marks: { type: 'geojson', data: features([]), maxzoom: 22 } },
        layers: [{ id: 'paper', type: 'background', paint: { 'background-color': PAPER } },
          ...(tiles ? [{ id: 'tiles', type: 'raster', source: 'tiles', paint: { 'raster-opacity': 0.55, 'raster-saturation': -0.5 } }] : [])] },
    }));
    map.touchZoomRotate.disableRotation();
    map.keyboard.disableRotation();
    map.addControl(new maplibregl.NavigationControl({ showCompass: false }), 'bottom-right');
    if (tiles && background.credit) map.addControl(new maplibregl.AttributionControl({ customAttribution: h('i', {}, background.credit).outerHTML }));
    map.on('styleimagemissing', ({ id }) => map.hasImage(id) || map.addImage(id, picture(id), { pixelRatio: 2 }));
    await new Promise((resolve) => map.once('load', resolve));
    const round = { 'line-cap': 'round', 'line-join': 'round' };
    map.addLayer({ id: 'parts', type: 'line', source: 'parts', layout: round, paint: { 'line-color': '#fff', 'line-width': 22, 'line-opacity': 0.95 } });
    map.addLayer({ id: 'parts-edge', type: 'line', source: 'parts', layout: round, paint: { 'line-color': FACES.recommended, 'line-width': 17, 'line-opacity': 0.8 } });
    map.addLayer({ id: 'way-edge', type: 'line', source: 'way', layout: round, paint: { 'line-color': '#fff', 'line-width': 21 } });
    map.addLayer({ id: 'way', type: 'line', source: 'way', layout: round, paint: { 'line-color': '#2f9be8', 'line-width': 17 } });
    map.addLayer(this.field);
    map.addLayer({ id: 'names', type: 'symbol', source: 'names', layout: { 'icon-image': ['concat', 'name-', ['get', 'name']], 'icon-rotate': ['get', 'turn'], 'icon-rotation-alignment': 'map', 'icon-offset': [0, -12] } });
    map.addLayer({ id: 'marks', type: 'symbol', source: 'marks', layout: { 'icon-image': ['get', 'image'], 'icon-allow-overlap': true, 'icon-ignore-placement': true, 'symbol-sort-key': ['get', 'rank'] } });
    map.on('click', (event) => this.#tapped(event));
    map.on('moveend', () => this.#settle());
    map.getCanvas().setAttribute('aria-label', 'Map of the network. The same facts stand in the tables beside it.');
    this.#settle();
    this.refresh();
  }

  /** Without the engine, or without WebGL: the plan in two dimensions; tables and forms work all the same. */
  #plan(error) {
    console.warn(error);
    this.map?.remove();
    this.map = null;
    const canvas = h('canvas', { class: 'plan', role: 'img', 'aria-label': 'Plan of the network' });
    fill($('#map'), canvas);
    canvas.addEventListener('click', (event) => this.tapped(this.network.nearest(this.flat.back(event.offsetX, event.offsetY))));
    new ResizeObserver(() => this.refresh()).observe(canvas);
    this.plan = canvas;
    this.refresh();
  }

  #draw() {
    const { plan, network: net } = this, dense = devicePixelRatio, wide = (plan.width = plan.clientWidth * dense), high = (plan.height = plan.clientHeight * dense);
    const g = plan.getContext('2d'), [x0, y0, x1, y1] = this.#box(), scale = Math.min((wide - 70 * dense) / (x1 - x0 || 1e-9), (high - 130 * dense) / (y1 - y0 || 1e-9));
    const at = ([x, y]) => [wide / 2 + (x - net.centre[0] - (x0 + x1) / 2) * scale, high / 2 + (y - net.centre[1] - (y0 + y1) / 2) * scale];
    this.flat = { back: (px, py) => [(px * dense - wide / 2) / scale + (x0 + x1) / 2 + net.centre[0], (py * dense - high / 2) / scale + (y0 + y1) / 2 + net.centre[1]] };
    const line = Math.min(6, Math.max(1, 0.3 * this.field.typical * scale / dense)) * dense, c = net.corners;
    g.lineCap = 'round';
    for (const casing of [true, false]) {
      g.lineWidth = line + (casing ? 2 * dense : 0);
      for (let i = 0; i < net.pieces; i++) {
        const k = 4 * this.field.bytes[i];
        g.strokeStyle = casing ? INK : `rgb(${this.field.colours.subarray(k, k + 3).join()})`;
        g.beginPath();
        g.moveTo(...at([c[4 * i] + net.centre[0], c[4 * i + 1] + net.centre[1]]));
        g.lineTo(...at([c[4 * i + 2] + net.centre[0], c[4 * i + 3] + net.centre[1]]));
        g.stroke();
      }
    }
    for (const mark of [...this.marks].sort((a, b) => RANK[a.kind] - RANK[b.kind])) {
      const image = picture(`${mark.kind}-${mark.text ?? ''}`), [x, y] = at(mark.at), stamp = h('canvas', { width: image.width, height: image.height });
      stamp.getContext('2d').putImageData(image, 0, 0);
      g.drawImage(stamp, x - (image.width * dense) / 4, y - (image.height * dense) / 4, (image.width * dense) / 2, (image.height * dense) / 2);
    }
    const pixel = dense / scale;
    this.#scale(pixel);
  }

  #box() {
    if (!this.box) {
      const c = this.network.corners, box = [Infinity, Infinity, -Infinity, -Infinity];
      for (let i = 0; i < c.length; i += 2) {
        if (c[i] < box[0]) box[0] = c[i]; if (c[i] > box[2]) box[2] = c[i];
        if (c[i + 1] < box[1]) box[1] = c[i + 1]; if (c[i + 1] > box[3]) box[3] = c[i + 1];
      }
      this.box = box;
    }
    return this.box;
  }

  #bounds() {
    const [x0, y0, x1, y1] = this.#box(), [cx, cy] = this.network.centre, { degrees } = this.network;
    return [degrees([cx + x0, cy + y1]), degrees([cx + x1, cy + y0])];
  }

  #padding() {
    return innerWidth > 860 ? { top: 76, bottom: 92, left: 40, right: 70 } : { top: 66, bottom: 74, left: 22, right: 60 };
  }

  /** Bring the whole network, or a line, into view. */
  fit(line = null) {
    const xs = line?.map(([x]) => x), ys = line?.map(([, y]) => y), { degrees } = this.network;
    this.map?.fitBounds(line ? [degrees([Math.min(...xs), Math.max(...ys)]), degrees([Math.max(...xs), Math.min(...ys)])] : this.#bounds(), { padding: this.#padding(), duration: 300, maxZoom: line ? this.#near() : 22 });
  }

  #near() { return Math.min(18, Math.log2(70 / (512 * this.field.typical))); }

  /** Bring a place into view. */
  go(at, zoom = true) {
    if (!this.map) return;
    this.map.easeTo({ center: this.network.degrees(at), zoom: zoom ? Math.max(this.map.getZoom(), this.#near()) : this.map.getZoom(), duration: 400 });
  }

  #tapped({ lngLat, point }) {
    const found = this.network.nearest(this.network.plane(lngLat.lng, lngLat.lat));
    const mark = this.map.queryRenderedFeatures([[point.x - 16, point.y - 16], [point.x + 16, point.y + 16]], { layers: ['marks'] })[0];
    this.tapped({ ...found, off: found.off * 512 * 2 ** this.map.getZoom(), trial: mark?.properties.trial });
  }

  #settle() {
    const { map, network: net } = this, world = 512 * 2 ** map.getZoom();
    this.#scale(1 / world);
    const inside = map.getBounds(), rows = [], seen = new Map();
    for (let e = 0; e < net.edges && world * this.field.typical > 8; e++) {
      const [x0, y0] = net.at(e, 0), [x1, y1] = net.at(e, net.lengths[e]), long = Math.hypot(x1 - x0, y1 - y0) * world;
      if (long < 7.5 * net.names[e].length + 24 || !inside.contains(net.degrees([(x0 + x1) / 2, (y0 + y1) / 2]))) continue;
      rows.push({ e, long, turn: (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI });
    }
    rows.sort((a, b) => b.long - a.long);
    const shown = rows.filter(({ e }) => { const n = seen.get(net.names[e]) ?? 0; seen.set(net.names[e], n + 1); return n < 2; }).slice(0, NAMED);
    map.getSource('names').setData(features(shown.map(({ e, turn }) => ({ type: 'Feature', geometry: { type: 'Point', coordinates: net.degrees(net.at(e, net.lengths[e] / 2)) },
      properties: { name: net.names[e].slice(0, 40), turn: turn > 90 ? turn - 180 : turn < -90 ? turn + 180 : turn } }))));
  }

  #scale(pixel) { // a round length of at most 110 pixels, in the network's own unit
    const { scale } = this.network, bar = $('#scale');
    bar.hidden = !scale;
    if (!scale) return;
    const most = 110 * pixel * scale.side, power = 10 ** Math.floor(Math.log10(most)), length = [5, 2, 1].find((k) => k * power <= most) * power;
    bar.style.width = `${length / (pixel * scale.side)}px`;
    bar.textContent = scale.unit === 'm' && length >= 1000 ? `${number(length / 1000)} km` : `${number(length)} ${scale.unit}`;
  }

  // What is shown

  #controls() {
    fill($('#views'), Object.entries(VIEWS).map(([view, [name, words]]) =>
      button(name, () => { this.view = view; this.refresh(); }, '', { 'data-view': view, title: words, 'aria-pressed': String(view === this.view) })));
    $('#fit').addEventListener('click', () => this.fit());
  }

  /** Legends of a model; the bytes are in the network already. */
  know(legends) {
    this.legends = legends;
    this.refresh();
  }

  refresh() {
    const legend = this.legends?.[this.view], stops = this.network.colours[this.view];
    for (const each of document.querySelectorAll('#views button')) each.setAttribute('aria-pressed', String(each.dataset.view === this.view));
    this.field.show(this.network.levels[this.view], stops, this.view === 'probability');
    const known = legend && !legend.reason && this.network.levels[this.view];
    const strip = h('canvas', { width: 128, height: 1, 'aria-hidden': 'true' });
    if (known) {
      const image = new ImageData(128, 1);
      for (let i = 0; i < 128; i++) image.data.set(this.field.colours.subarray(8 * i, 8 * i + 4), 4 * i);
      strip.getContext('2d').putImageData(image, 0, 0);
    }
    const unit = legend?.unit ? ` ${legend.unit}` : '', word = { acquisition: ['little', 'much'], probability: ['unlikely', 'likely'] }[this.view];
    fill($('#legend'), h('b', {}, VIEWS[this.view][0]), ' ', h('span', { class: 'faint' }, VIEWS[this.view][1]),
      known ? h('div', { class: 'bar' }, h('span', {}, word ? word[0] : number(legend.low, 3) + unit), strip, h('span', {}, word ? word[1] : number(legend.high, 3) + unit))
        : h('div', { class: 'faint' }, legend?.reason ?? 'nothing is known yet'));
    this.place(this.marks);
  }

  /** Marks: kind, place on the plane, and what stands in them. */
  place(marks) {
    this.marks = marks;
    if (this.plan) this.#draw();
    const points = marks.map(({ kind, at, text, trial }) => ({ type: 'Feature', geometry: { type: 'Point', coordinates: this.network.degrees(at) },
      properties: { image: `${kind}-${text ?? ''}`, rank: RANK[kind] ?? 0, trial: trial ?? null } }));
    this.map?.getSource('marks')?.setData(features(points));
  }

  /** Lines below the colours: the way to a place, or stretches to walk. */
  lines(source, lines) {
    this.map?.getSource(source)?.setData(features(lines.filter((line) => line.length).map((line) => ({ type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: line.map(this.network.degrees) } }))));
  }

  /** The map as an image, for paper. */
  async image() {
    if (!this.map) return this.plan.toDataURL();
    const still = new Promise((resolve) => this.map.once('idle', resolve));
    this.map.triggerRepaint();
    await still; // the pictures of new marks have arrived
    const drawn = new Promise((resolve) => this.map.once('render', () => resolve(this.map.getCanvas().toDataURL())));
    this.map.triggerRepaint();
    return drawn;
  }
}
