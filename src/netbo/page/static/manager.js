// For the manager: how far it is, how sure, where to walk, who did what; files, links, the paper.

import { button, byTime, clock, fill, h, number, percent, save, say, typed, way, withUnit } from './dom.js';
import { convergence, profile } from './charts.js';
import { isStill, post, settings, store } from './source.js';

const FILES = { 'study.gpkg': 'GeoPackage', 'study.geojson': 'GeoJSON', 'study.gpx': 'GPX', 'study.kml': 'KML', 'study.csv': 'CSV' };
const STATES = { observed: '', failed: 'no value', withdrawn: 'taken back', cancelled: 'given up', expired: 'ran out', released: 'given back', pending: 'under way', waiting: 'in line' };
const ROWS = 100;

export class Panels {
  constructor(page) {
    Object.assign(this, { page, edge: null, walked: [], all: false });
    try { this.walked = JSON.parse(localStorage.getItem(`netbo walked ${store}`) ?? '[]'); } catch { /* a browser that keeps nothing */ }
  }

  /** Whether a stretch was walked, as it is now: with every model the stretches move a little. */
  #isWalked({ edge, from, to }) {
    let done = 0, last = from;
    for (const [, a, b] of this.walked.filter(([id]) => id === JSON.stringify(edge)).sort((one, other) => one[1] - other[1])) {
      done += Math.max(0, Math.min(b, to) - Math.max(a, last));
      last = Math.max(last, b);
    }
    return done >= 0.9 * (to - from);
  }

  #walk({ edge, from, to }, isDone) {
    const id = JSON.stringify(edge);
    if (isDone) this.walked.push([id, from, to]); else this.walked = this.walked.filter(([other, a, b]) => other !== id || b <= from || a >= to);
    try { localStorage.setItem(`netbo walked ${store}`, JSON.stringify(this.walked)); } catch { /* as above */ }
    this.page.draw();
  }

  /** How far, how sure, and what is known along a street. */
  progress(panel) {
    const { state, trials, network } = this.page, { model, counts, study } = state, unit = study.value_unit;
    const tile = (value, words) => h('div', { class: 'tile' }, h('b', {}, value), h('span', {}, words));
    const best = state.best && trials.find((row) => row.id === state.best.id);
    fill(panel,
      h('div', { class: 'tiles' }, tile(counts.observed ?? 0, state.budget ? `values of ${state.budget}` : 'values'), tile(counts.pending ?? 0, 'under way'), tile(counts.failed ?? 0, 'without a value'),
        tile(state.best ? withUnit(state.best.value, unit) : '–', best ? `best, ${best.place.name}` : 'best')),
      h('h2', {}, 'How sure'), h('p', { class: 'sure', id: 'sure' }, model?.sure ?? 'No model yet.'),
      !isStill && model?.behind > 0 && h('p', { class: 'faint' }, `${model.behind} newer value${model.behind === 1 ? ' is' : 's are'} not in it yet; it is ${this.page.modelAge()} old.`),
      model?.recommend && h('p', {}, 'Recommended: ', this.page.link(model.recommend.place), `, ${model.recommend.place.words}: ${withUnit(model.recommend.mean, unit)}${model.doubt ? '' : ` (95 %: ${number(model.recommend.low, 3)} to ${number(model.recommend.high, 3)})`}.`),
      model?.check && h('p', { class: 'faint' }, model.check.words),
      (model?.warnings ?? []).map((text) => h('p', { class: 'warning' }, text)),
      h('h2', {}, 'Values so far'), convergence(trials, study),
      h('h2', {}, this.edge == null ? 'Along a street' : network.names[this.edge]),
      this.edge == null || !model?.legends?.mean ? h('p', { class: 'faint' }, 'Tap a street on the map to see what is known along it.') : profile(network, this.edge, model, trials, study),
      model?.modes?.length > 0 && [h('h2', {}, 'Where the best may be'), this.#table(['place', 'probability', 'expected'],
        model.modes.map((mode) => [[this.page.link(mode.place), `, ${mode.place.words}`], percent(mode.probability), withUnit(mode.mean, unit)]))],
      model && h('details', {}, h('summary', {}, 'The model in words'), h('pre', {}, model.facts?.join('\n') ?? ''), !isStill && h('p', { class: 'faint' }, `Computed in ${number(model.took, 2)} s from ${model.values} values, ${this.page.modelAge()} ago.`)));
  }

  #table(heads, rows, label = null) {
    return h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': label ?? heads.join(', ') },
      h('table', {}, h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col' }, head)))), h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, cell)))))));
  }

  /** Stretches to walk, with ticks of this browser. */
  search(panel) {
    const { state, network, chart } = this.page, found = state.model?.search;
    if (!found?.rows?.length) return fill(panel, h('h2', {}, 'Stretches to walk'), h('p', {}, 'There is no list yet: it comes with the first values.'));
    chart.lines('parts', found.rows.filter((row) => !this.#isWalked(row)).flatMap((row) => row.parts.map(([edge, a, b]) => network.part(edge, a, b))));
    fill(panel, h('h2', {}, 'Stretches to walk'),
      h('p', {}, `With probability ${percent(found.probability)} the best place lies on ${way(found.length, network.unit)} of ${way(network.total, network.unit)}, in ${found.rows.length} stretch${found.rows.length === 1 ? '' : 'es'}.`,
        found.held_out != null && found.held_out < found.probability - 0.05 ? ` Judged by samples the list was not made from, rather ${percent(found.held_out)}.` : ''),
      h('ul', { class: 'walks' }, found.rows.map((row) => h('li', {}, h('label', { class: 'tick' }, h('input', { type: 'checkbox', checked: this.#isWalked(row), change: (event) => this.#walk(row, event.target.checked) }),
        h('span', {}, h('b', {}, row.name), `, ${way(row.length, network.unit)}, ${percent(row.probability)}`, h('br'), h('span', { class: 'faint' }, row.words))),
        button('Show', () => chart.go(row.at), 'plain', { 'aria-label': `Show ${row.name} on the map` })))),
      found.hidden > 0 && h('p', { class: 'faint' }, `and ${found.hidden} more, less probable`));
  }

  /** Everything that was said, by whom and when. */
  history(panel) {
    const { state, trials, me } = this.page, unit = state.study.value_unit, listed = [...trials].sort(byTime).reverse();
    const rows = this.all ? listed : listed.slice(0, ROWS), mayChange = (row) => !isStill && (me.role === 'manager' || (me.role === 'crew' && row.by === me.name));
    const said = (row) => row.changes.map((each) => h('div', { class: 'faint' }, `${{ correct: `corrected to ${withUnit(each.value, unit)}`, withdraw: 'taken back', note: 'noted', tell: 'told late' }[each.kind] ?? each.kind}${each.by ? ` by ${each.by}` : ''}, ${clock(each.time)}`));
    fill(panel, h('h2', {}, `History, ${listed.length} place${listed.length === 1 ? '' : 's'}`),
      rows.length ? h('ul', { class: 'history' }, rows.map((row) => h('li', { 'data-trial': row.id, class: row.status },
        h('div', { class: 'head' }, h('b', {}, row.status === 'observed' ? withUnit(row.value, unit) : row.status === 'withdrawn' ? h('s', {}, withUnit(row.value, unit)) : STATES[row.status] ?? row.status),
          h('span', { class: 'faint' }, [row.by, clock(row.ended ?? row.began)].filter(Boolean).join(', ') || `trial ${row.id}`)),
        h('div', {}, this.page.link(row.place), `, ${row.place.words}`), row.note && h('div', { class: 'said' }, `“${row.note}”`), said(row),
        mayChange(row) && ['observed', 'failed', 'withdrawn'].includes(row.status) && h('div', { class: 'row' },
          button('Correct', () => this.#correct(row), 'plain small', { 'aria-label': `Correct trial ${row.id}` }),
          row.status === 'observed' && button('Take back', () => this.page.crew.change(row, 'withdraw', 'Taken back: it stays in the record and does not count.'), 'plain small', { 'aria-label': `Take back trial ${row.id}` })),
        mayChange(row) && ['pending', 'waiting'].includes(row.status) && button('Give up', () => this.page.crew.change(row, 'cancel', 'Given up; a value told for it later still counts.'), 'plain small', { 'aria-label': `Give up trial ${row.id}` }))))
        : h('p', { class: 'faint' }, 'Nothing yet.'),
      listed.length > rows.length && button(`Show all ${listed.length}`, () => { this.all = true; this.page.draw(); }));
  }

  async #correct(row) {
    const text = prompt(`The right value at ${row.place.name}`, row.value ?? ''), value = text == null ? null : typed(text);
    if (text == null) return;
    if (value == null) { say(`A value is a number, got “${text}”.`, { kind: 'wrong' }); return; }
    try { await post(`trials/${row.id}/correct`, { value }); say('Corrected; the first value stays in the record.'); } catch (error) { say(error.message, { kind: 'wrong' }); }
    await this.page.refresh();
  }

  /** What is known of every street, as a table: for whoever does not see the map. */
  table(panel) {
    const { network, state } = this.page, legends = state.model?.legends, unit = state.study.value_unit;
    if (!legends?.mean) return fill(panel, h('h2', {}, 'Streets'), this.#table(['street', 'length'], network.names.slice(0, ROWS).map((name, e) => [name, way(network.lengths[e], network.unit)])));
    const rows = network.names.map((name, e) => {
      let mean = 0, sd = 0, next = -Infinity, mass = 0, n = 0;
      for (let i = network.first[e]; i < network.first[e + 1]; i++, n++) {
        mean += network.value('mean', i, legends.mean) ?? NaN; sd += network.value('sd', i, legends.sd) ?? NaN;
        next = Math.max(next, network.levels.acquisition?.[i] < 255 ? network.levels.acquisition[i] : 0);
        mass += (network.value('probability', i, legends.probability) ?? 0) * (network.to[i] - network.from[i]);
      }
      return { name, e, mean: mean / n, sd: sd / n, next, mass };
    }).sort((a, b) => b.mass - a.mass || b.mean - a.mean);
    fill(panel, h('h2', {}, 'Streets, the most probable first'), h('p', { class: 'faint' }, 'Means along each street: the estimate, its standard deviation, how much a measurement would tell, and the probability that the best place is there.'),
      this.#table(['street', 'length', `estimate${unit ? `, ${unit}` : ''}`, '± sd', 'next', 'best'], (this.all ? rows : rows.slice(0, ROWS)).map((row) => [
        button(row.name, () => this.page.select({ edge: row.e, z: network.lengths[row.e] / 2 }, true), 'link'), way(network.lengths[row.e], network.unit), number(row.mean, 3), number(row.sd, 2), percent(row.next / 254), percent(row.mass)])),
      rows.length > ROWS && !this.all && button(`Show all ${rows.length}`, () => { this.all = true; this.page.draw(); }));
  }

  /** Files, links, findings, paper. */
  more(panel) {
    const { network, me, chart } = this.page, placed = network.findings.filter((each) => each.at);
    fill(panel, !isStill && [h('h2', {}, 'Take it along'), h('ul', { class: 'files' }, Object.entries(FILES).map(([name, words]) => h('li', {}, h('a', { href: `api/v1/export/${name}`, download: name, class: 'button' }, words))))],
      isStill && h('div', { class: 'row' }, button('Values as CSV', () => save('values.csv', this.#csv(), 'text/csv'))),
      h('div', { class: 'row' }, button('Print sheet', () => this.print())),
      me.role === 'manager' && !isStill && [h('h2', {}, 'Links'), h('p', {}, 'Whoever has a link has its role. Show the code to a phone, or send the text.'),
        h('form', { class: 'pair', submit: (event) => { event.preventDefault(); this.#link(event.target); } },
          h('label', {}, 'Role', h('select', { name: 'role', id: 'link-role', 'data-keep': true }, ['crew', 'reader', 'manager'].map((role) => h('option', {}, role)))), h('label', {}, 'Name', h('input', { name: 'name', id: 'link-name', 'data-keep': true, required: true, maxlength: 60, autocomplete: 'off' })), h('button', { type: 'submit' }, 'Make a link')),
        h('div', { id: 'made' }, this.made && [h('img', { src: this.made.qr, alt: `QR code of the link for ${this.made.name}`, width: 220, height: 220 }), h('input', { readonly: true, value: this.made.url, 'aria-label': `Link for ${this.made.name}`, click: (event) => event.target.select() })])],
      h('h2', {}, 'The network'), h('label', { class: 'tick' }, h('input', { type: 'checkbox', checked: Boolean(this.page.findings), disabled: !placed.length, change: (event) => { this.page.findings = event.target.checked; this.page.mark(); } }), placed.length ? `Show ${placed.length} findings on the map` : 'Nothing was found in the network'),
      network.findings.length > 0 && h('ul', { class: 'plain' }, network.findings.slice(0, ROWS).map((each) => h('li', {}, h('b', {}, `${each.kind}: `), each.sentence, each.at && button('Show', () => { this.page.findings = true; this.page.mark(); chart.go(each.at); }, 'plain small')))),
      h('details', {}, h('summary', {}, 'Report on the network'), h('pre', {}, network.report)),
      settings.settings && h('details', {}, h('summary', {}, 'Settings'), this.#table(['setting', 'value'], settings.settings)));
  }

  async #link(form) {
    try {
      this.made = await post('links', { role: form.elements.role.value, name: form.elements.name.value });
      this.page.draw();
    } catch (error) { say(error.message, { kind: 'wrong' }); }
  }

  #csv() { // text that a spreadsheet would run gets an apostrophe before it
    const cell = (value) => { const text = value == null ? '' : typeof value === 'number' ? String(value) : String(value).replace(/^[=+\-@\t\r]/, "'$&"); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    return [['id', 'edge', 'distance', 'value', 'status', 'by', 'note'], ...this.page.trials.map((row) => [row.id, row.place.edge, row.place.distance, row.value, row.status, row.by, row.note])].map((row) => row.map(cell).join(',')).join('\r\n');
  }

  /** A sheet for the clipboard: the map, places with room to write, stretches to tick. */
  async print() {
    const { state, network } = this.page, open = state.open.filter((row) => row.status === 'pending'), image = h('img', { alt: 'Map' });
    this.page.mark(open);
    image.src = await this.page.chart.image();
    this.page.mark();
    const colours = [document.querySelector('#legend b').textContent, [...document.querySelectorAll('#legend .bar > span')].map((each) => each.textContent).join(' to ')];
    fill(document.querySelector('#sheet'), h('h1', {}, state.study.title), state.now && h('p', {}, new Date(1000 * state.now).toLocaleString('en-GB')), image, h('p', {}, `Colours: ${colours.filter(Boolean).join(', ')}.`), h('p', {}, state.model?.sure ?? ''),
      h('h2', {}, 'Places'), this.#table(['', 'crew', 'place', 'value', 'time, note'], open.map((row, k) => [k + 1, row.crew, `${row.place.name}, ${row.place.words}`, '', ''])),
      h('h2', {}, 'Stretches to walk'), this.#table(['done', 'stretch', 'length', 'probability'], (state.model?.search?.rows ?? []).map((row) => [this.#isWalked(row) ? '☒' : '☐', `${row.name}, ${row.words}`, way(row.length, network.unit), percent(row.probability)])));
    await image.decode().catch(() => {});
    window.print();
  }
}
