// The network in numbers: its pieces, what lies near a place, and the shortest ways.

const NONE = 255, HIGHEST = 254;
const COMPASS = ['east', 'north-east', 'north', 'north-west', 'west', 'south-west', 'south', 'south-east'];

export class Network {
  constructor(said, packed) {
    Object.assign(this, said);
    let at = 0;
    const take = (Kind, n) => { const found = new Kind(packed, at, n); at += 4 * n; return found; };
    const n = said.pieces, m = said.edges;
    this.corners = take(Float32Array, 4 * n);
    this.edge = take(Int32Array, n);
    this.from = take(Float32Array, n);
    this.to = take(Float32Array, n);
    this.tails = take(Int32Array, m);
    this.heads = take(Int32Array, m);
    this.lengths = take(Float32Array, m);
    this.first = new Int32Array(m + 1).fill(n); // pieces of edge e: first[e] .. first[e + 1] - 1
    for (let i = n - 1; i >= 0; i--) this.first[this.edge[i]] = i;
    for (let e = m - 1; e >= 0; e--) this.first[e] = Math.min(this.first[e], this.first[e + 1]);
    this.levels = {}; // bytes of the pieces, by view
    this.#link();
  }

  #link() { // edges at each vertex, in one array
    const degree = new Int32Array(this.vertices + 1);
    for (const ends of [this.tails, this.heads]) for (const v of ends) degree[v + 1]++;
    for (let v = 0; v < this.vertices; v++) degree[v + 1] += degree[v];
    this.starts = degree;
    this.links = new Int32Array(2 * this.edges);
    const next = degree.slice();
    for (let e = 0; e < this.edges; e++) for (const v of [this.tails[e], this.heads[e]]) this.links[next[v]++] = e;
  }

  /** Longitude and latitude of a place of the plane; every place is drawn where these are. */
  degrees([x, y]) {
    return [(x - 0.5) * 360, (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI];
  }

  plane(lng, lat) {
    return [lng / 360 + 0.5, 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)];
  }

  /** The place of an edge at a distance from its tail, on the plane. */
  at(edge, z) {
    let i = this.first[edge];
    while (i < this.first[edge + 1] - 1 && this.to[i] < z) i++;
    const span = this.to[i] - this.from[i], t = span > 0 ? Math.min(1, Math.max(0, (z - this.from[i]) / span)) : 0;
    const [ax, ay, bx, by] = this.corners.subarray(4 * i, 4 * i + 4);
    return [this.centre[0] + ax + t * (bx - ax), this.centre[1] + ay + t * (by - ay)];
  }

  /** The nearest place of the network: edge, distance from its tail, and how far off on the plane. */
  nearest([x, y]) {
    const px = x - this.centre[0], py = y - this.centre[1], c = this.corners;
    let best = Infinity, found = 0, share = 0;
    for (let i = 0; i < this.pieces; i++) {
      const ax = c[4 * i], ay = c[4 * i + 1], dx = c[4 * i + 2] - ax, dy = c[4 * i + 3] - ay;
      const square = dx * dx + dy * dy;
      const t = square > 0 ? Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / square)) : 0;
      const off = (ax + t * dx - px) ** 2 + (ay + t * dy - py) ** 2;
      if (off < best) [best, found, share] = [off, i, t];
    }
    return { edge: this.edge[found], z: this.from[found] + share * (this.to[found] - this.from[found]), off: Math.sqrt(best) };
  }

  /** Distances to all vertices from a place, and the edge by which each is reached. */
  ways([edge, z]) {
    const away = new Float64Array(this.vertices).fill(Infinity), by = new Int32Array(this.vertices).fill(-1);
    const heap = [];
    const push = (v, d, e) => {
      if (d >= away[v]) return;
      away[v] = d; by[v] = e;
      let i = heap.push([d, v]) - 1;
      for (let up; i && heap[(up = (i - 1) >> 1)][0] > heap[i][0]; i = up) [heap[i], heap[up]] = [heap[up], heap[i]];
    };
    push(this.tails[edge], z, edge);
    push(this.heads[edge], this.lengths[edge] - z, edge);
    while (heap.length) {
      const [d, v] = heap[0], last = heap.pop();
      if (heap.length) heap[0] = last;
      for (let i = 0, low; (low = 2 * i + 1) < heap.length; i = low) {
        if (low + 1 < heap.length && heap[low + 1][0] < heap[low][0]) low++;
        if (heap[low][0] >= heap[i][0]) break;
        [heap[i], heap[low]] = [heap[low], heap[i]];
      }
      if (d > away[v]) continue;
      for (let k = this.starts[v]; k < this.starts[v + 1]; k++) {
        const e = this.links[k];
        push(this.tails[e] === v ? this.heads[e] : this.tails[e], d + this.lengths[e], e);
      }
    }
    return { from: [edge, z], away, by };
  }

  /** Length of the way to a place, and the places of the plane along it. */
  to_place(ways, [edge, z]) {
    const [e0, z0] = ways.from, { away, by } = ways;
    const ends = [[this.tails[edge], z, 0], [this.heads[edge], this.lengths[edge] - z, this.lengths[edge]]];
    const direct = e0 === edge ? Math.abs(z - z0) : Infinity;
    const [far, v, end] = ends.map(([vertex, rest, at]) => [away[vertex] + rest, vertex, at]).sort((a, b) => a[0] - b[0])[0];
    if (direct <= far) return { length: direct, line: this.part(edge, z0, z) };
    if (!Number.isFinite(far)) return { length: Infinity, line: [] };
    let line = this.part(edge, end, z), vertex = v;
    for (let n = 0; n < this.edges; n++) {
      const e = by[vertex], at = this.tails[e] === vertex ? 0 : this.lengths[e];
      const other = this.tails[e] === vertex ? this.heads[e] : this.tails[e];
      if (e === e0 && Math.abs(away[vertex] - Math.abs(at - z0)) <= 1e-6 * (1 + away[vertex])) return { length: far, line: [...this.part(e, z0, at), ...line] };
      line = [...this.part(e, this.lengths[e] - at, at), ...line];
      vertex = other;
    }
    return { length: far, line };
  }

  /** The drawn part of an edge from one distance to another. */
  part(edge, a, b) {
    const low = Math.min(a, b), high = Math.max(a, b), line = [this.at(edge, low)];
    for (let i = this.first[edge]; i < this.first[edge + 1]; i++) if (this.to[i] > low && this.to[i] < high) line.push(this.at(edge, this.to[i]));
    line.push(this.at(edge, high));
    return a <= b ? line : line.reverse();
  }

  /** The number behind a byte, by the legend of its view; null where nothing is known. */
  value(view, piece, legend) {
    const level = this.levels[view]?.[piece] ?? NONE;
    return level === NONE ? null : legend.low + (legend.high - legend.low) * (level / HIGHEST) ** (1 / legend.power);
  }

  /** Edges of one name in a row through an edge, each with whether it is walked backwards. */
  street(edge) {
    const row = [{ edge, back: false }], used = new Set([edge]);
    for (const forward of [true, false]) {
      for (let last = forward ? row.at(-1) : row[0]; ;) {
        const v = (forward !== last.back) ? this.heads[last.edge] : this.tails[last.edge];
        const same = [...this.links.subarray(this.starts[v], this.starts[v + 1])].filter((e) => !used.has(e) && this.names[e] === this.names[edge]);
        if (same.length !== 1) break;
        used.add(same[0]);
        last = { edge: same[0], back: (this.tails[same[0]] === v) !== forward };
        if (forward) row.push(last); else row.unshift(last);
      }
    }
    const first = row.reduce((a, b) => (a.edge < b.edge ? a : b)); // its direction is that of the street, from wherever one looks
    return first.back ? row.reverse().map((part) => ({ edge: part.edge, back: !part.back })) : row;
  }

  /** How far along its street a place is, how long the street is, and on which side it begins. */
  along(edge, z) {
    let length = 0, distance = 0;
    const row = this.street(edge);
    for (const part of row) {
      if (part.edge === edge) distance = length + (part.back ? this.lengths[edge] - z : z);
      length += this.lengths[part.edge];
    }
    const end = (part, last) => this.at(part.edge, part.back === last ? 0 : this.lengths[part.edge]), [x0, y0] = end(row[0], false), [x1, y1] = end(row.at(-1), true);
    return { distance, length, side: this.north && (x0 !== x1 || y0 !== y1) ? COMPASS[(Math.round(Math.atan2(y1 - y0, x0 - x1) / (Math.PI / 4)) + 8) % 8] : '' };
  }

  /** The place of a street at a distance from where it begins; null if it is not so long. */
  find(name, distance) {
    const edge = this.names.indexOf(name);
    if (edge < 0) return null;
    for (const part of this.street(edge)) {
      const long = this.lengths[part.edge];
      if (distance <= long * (1 + 1e-6)) return { edge: part.edge, z: Math.min(long, Math.max(0, part.back ? long - distance : distance)) };
      distance -= long;
    }
    return null;
  }
}
