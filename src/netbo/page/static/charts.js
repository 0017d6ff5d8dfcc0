// Charts as SVG: values in their order, and what is known along a street.

import { byTime, clock, h, number, withUnit } from './dom.js';

const W = 380, H = 190, LEFT = 46, RIGHT = 10, TOP = 14, BOTTOM = 30;

function ticks(low, high, n = 4) {
  const raw = (high - low || 1) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
  return Array.from({ length: 12 }, (_, k) => (Math.ceil(low / step) + k) * step).filter((tick) => tick <= high + 1e-9 * step);
}

/** Axes about some marks; `draw` gets the scales and returns elements. */
function chart(title, [x0, x1], [y0, y1], { below, left, draw }) {
  const room = 0.06 * (y1 - y0) || Math.abs(y1) * 0.1 || 1, low = y0 - room, high = y1 + room;
  const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (W - LEFT - RIGHT);
  const y = (value) => H - BOTTOM - ((value - low) / (high - low)) * (H - TOP - BOTTOM);
  return h('svg:svg', { viewBox: `0 0 ${W} ${H}`, class: 'chart', role: 'img', 'aria-label': title },
    ticks(low, high).map((tick) => [
      h('svg:line', { x1: LEFT, x2: W - RIGHT, y1: y(tick), y2: y(tick), class: 'grid' }),
      h('svg:text', { x: LEFT - 6, y: y(tick) + 4, 'text-anchor': 'end' }, number(tick, 3))]),
    ticks(x0, x1).map((tick) => h('svg:text', { x: x(tick), y: H - BOTTOM + 15, 'text-anchor': 'middle' }, number(tick, 4))),
    draw(x, y),
    h('svg:text', { x: W - RIGHT, y: H - 2, 'text-anchor': 'end', class: 'faint' }, below),
    h('svg:text', { x: 2, y: 10, class: 'faint' }, left));
}

const path = (points, props) => h('svg:path', { d: points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join(''), fill: 'none', ...props });
const dot = (x, y, r, words, kind = 'seen') => h('svg:circle', { cx: x, cy: y, r, class: kind }, h('svg:title', {}, words));

/** Values in the order told, and the best so far as a line. */
export function convergence(trials, { direction, value_unit: unit, value_label: label }) {
  const told = trials.filter((trial) => trial.value != null && trial.status === 'observed').sort(byTime);
  if (!told.length) return h('p', { class: 'faint' }, 'No values yet.');
  const values = told.map((trial) => trial.value), best = [];
  for (const value of values) best.push(best.length ? (direction === 'minimize' ? Math.min : Math.max)(best.at(-1), value) : value);
  return chart(`${values.length} values in their order; the best is ${withUnit(best.at(-1), unit)}`, [1, Math.max(values.length, 2)],
    [Math.min(...values), Math.max(...values)], {
      below: 'values, in the order told', left: label ?? unit ?? 'value',
      draw: (x, y) => [
        path(best.flatMap((value, i) => (i ? [[x(i + 1), y(best[i - 1])], [x(i + 1), y(value)]] : [[x(1), y(value)]])), { class: 'best' }),
        told.map((trial, i) => dot(x(i + 1), y(trial.value), 3.5, `${withUnit(trial.value, unit)}, ${trial.place.name}, ${clock(trial.ended)}`))],
    });
}

/** Estimate, band of two standard deviations and values along a street. */
export function profile(network, edge, model, trials, { value_unit: unit, value_label: label }) {
  const points = [], starts = new Map();
  let at = 0;
  for (const part of network.street(edge)) {
    starts.set(part.edge, [at, part.back]);
    const pieces = [];
    for (let i = network.first[part.edge]; i < network.first[part.edge + 1]; i++) pieces.push(i);
    for (const i of part.back ? pieces.reverse() : pieces) {
      const middle = (network.from[i] + network.to[i]) / 2, along = part.back ? network.lengths[part.edge] - middle : middle;
      points.push([at + along, network.value('mean', i, model.legends.mean), network.value('sd', i, model.legends.sd)]);
    }
    at += network.lengths[part.edge];
  }
  const known = points.filter((point) => point[1] != null);
  if (!known.length) return h('p', { class: 'faint' }, 'Nothing is known here yet.');
  const seen = trials.filter((trial) => trial.status === 'observed' && starts.has(trial.place.index[0])).map((trial) => {
    const [start, back] = starts.get(trial.place.index[0]), z = trial.place.index[1];
    return [start + (back ? network.lengths[trial.place.index[0]] - z : z), trial];
  });
  const upper = known.map(([s, mean, sd]) => [s, mean + 2 * (sd ?? 0)]), lower = known.map(([s, mean, sd]) => [s, mean - 2 * (sd ?? 0)]);
  const all = [...upper, ...lower].map((point) => point[1]).concat(seen.map(([, trial]) => trial.value));
  return chart(`Estimate along ${network.names[edge]}`, [0, at], [Math.min(...all), Math.max(...all)], {
    below: `along ${network.names[edge]}${network.unit ? `, ${network.unit}` : ''}`, left: label ?? unit ?? 'value',
    draw: (x, y) => [
      path([...upper, ...lower.reverse()].map(([s, v]) => [x(s), y(v)]), { class: 'band' }),
      path(known.map(([s, mean]) => [x(s), y(mean)]), { class: 'mean' }),
      seen.map(([s, trial]) => dot(x(s), y(trial.value), 4, `${withUnit(trial.value, unit)}, ${clock(trial.ended)}`))],
  });
}
