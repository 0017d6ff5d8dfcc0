// For the crew: where to go, in which order, what was found there; all of it without coverage too.

import { age, button, clock, fill, h, number, say, typed, way, withUnit } from './dom.js';
import { isStill, post } from './source.js';

const REASONS = ['no access', 'cover stuck', 'too loud', 'instrument failed'];

export class CrewPanel {
  constructor(page) {
    Object.assign(this, { page, form: null, here: null, wanted: 1 });
  }

  get name() { return this.page.state.me.name; }

  /** My places in the order to go: each time the nearest that is left. */
  places() {
    const { state, network } = this.page, told = new Set(this.page.queue.items.map((item) => item.body.trial));
    let left = state.open.filter((row) => row.status === 'pending' && row.crew === this.name && !told.has(row.id));
    const placed = [];
    for (let from = this.start(); left.length; ) {
      const ways = from && network.ways(from), far = (row) => (ways ? network.to_place(ways, row.place.index).length : 0);
      const [next] = left.map((row) => [far(row), row]).sort((a, b) => a[0] - b[0] || a[1].id - b[1].id)[0].slice(1);
      placed.push({ row: next, far: ways ? far(next) : null, ways });
      left = left.filter((row) => row !== next);
      from = next.place.index;
    }
    return placed;
  }

  /** Where this crew is: by GPS, or where it told its last value. */
  start() {
    if (this.here) return this.here;
    const mine = this.page.trials.filter((row) => row.by === this.name && row.ended).sort((a, b) => b.ended - a.ended)[0];
    return mine?.place.index ?? null;
  }

  draw(panel) {
    if (this.form) return this.#form(panel);
    const { state, queue } = this.page, placed = (this.placed = this.places()), unit = this.page.network.unit;
    const others = state.open.filter((row) => row.crew !== this.name || row.status === 'waiting');
    fill(panel, this.#queued(queue),
      h('h2', {}, placed.length ? 'Go here next' : 'Nothing to do yet'),
      placed.length ? h('ol', { class: 'places' }, placed.map((each, k) => this.#card(each, k + 1, unit))) : h('p', {}, 'Ask for a place: it is where a measurement would tell most.'),
      h('div', { class: 'row' }, button(placed.length ? 'One more place' : 'Get a place', () => this.more(), placed.length ? '' : 'main', { id: 'ask' }),
        button('Report a value elsewhere', () => this.open(null))),
      this.asking && h('p', { role: 'status', class: 'busy' }, this.asking),
      this.#mine(),
      others.length > 0 && [h('h2', {}, 'Others'), h('ul', { class: 'plain' }, others.map((row) => h('li', {}, h('b', {}, row.status === 'waiting' ? 'in line' : row.crew || 'somebody'),
        row.status === 'waiting' ? ': ' : `, since ${clock(row.began)}: `, this.page.link(row.place))))]);
  }

  #card({ row, far, ways }, k, unit) {
    const { place } = row, now = this.page.state.now, left = row.expires && row.expires - now;
    return h('li', { class: 'place', 'data-trial': row.id },
      h('span', { class: 'badge', 'aria-hidden': 'true' }, k),
      h('div', {}, h('h3', {}, h('span', { class: 'unseen' }, `Place ${k}: `), place.name), h('p', {}, place.words),
        h('p', { class: 'faint' }, [far != null && `${way(far, unit)} ${k === 1 ? 'from here' : 'further'}`, `yours since ${clock(row.began)}`, left && (left > 0 ? `for ${age(left)} more` : 'its time is over')].filter(Boolean).join(' · ')),
        h('div', { class: 'row' }, button('Measured', () => this.open(row), 'main', { 'aria-label': `Measured: enter the value of place ${k}` }),
          button('Show', () => this.show(row, ways), '', { 'aria-label': `Show place ${k} on the map` }),
          button('Give back', () => this.change(row, 'release', 'The place goes to whoever asks next.'), 'plain', { 'aria-label': `Give place ${k} back` }))));
  }

  #queued(queue) {
    const items = queue.items;
    if (!items.length) return null;
    return [h('h2', {}, 'On their way'), h('ul', { class: 'plain', id: 'queue' }, items.map((item) => h('li', { class: item.refused ? 'wrong' : 'waiting' },
      h('b', {}, item.body.value == null ? 'no value' : withUnit(item.body.value, this.page.state.study.value_unit)), `, ${item.label}: `,
      item.refused ? `the server refused it: ${item.refused}` : 'kept on this phone until the server has it',
      h('div', { class: 'row' }, item.refused && item.body.trial != null && button('Store as a value of its own', () => this.#own(item)),
        button(item.refused ? 'Throw away' : 'Undo', () => queue.remove(item.key), 'plain')))))];
  }

  async #own(item) { // somebody else told that trial: the value is kept beside theirs, at its place
    const row = this.page.trials.find((trial) => trial.id === item.body.trial) ?? this.page.state.open.find((trial) => trial.id === item.body.trial);
    if (!row && !item.body.at) return say('The place of this trial is not known here.', { kind: 'wrong' });
    await this.page.queue.remove(item.key);
    await this.page.queue.add({ ...item.body, trial: null, at: item.body.at ?? { index: row.place.index } }, item.label, this.name);
  }

  #mine() {
    const mine = this.page.trials.filter((row) => row.by === this.name && row.ended).sort((a, b) => b.ended - a.ended).slice(0, 4);
    return mine.length > 0 && [h('h2', {}, 'Stored'), h('ul', { class: 'plain' }, mine.map((row) => h('li', {}, h('b', {}, row.value == null ? 'no value' : withUnit(row.value, this.page.state.study.value_unit)),
      `, ${clock(row.ended)}: `, this.page.link(row.place), row.status === 'withdrawn' ? ' (taken back)' : null,
      row.status === 'observed' && button('Take back', () => this.change(row, 'withdraw', 'Taken back: it stays in the record and does not count.'), 'plain small', { 'aria-label': `Take back ${number(row.value)} at ${row.place.name}` }))))];
  }

  /** Ask for one place more than there are. */
  async more() {
    this.wanted = this.places().length + 1;
    this.asking = 'A place is being computed …';
    this.page.draw();
    await this.#ask();
  }

  async #ask() {
    try {
      const here = this.here && { index: this.here }, answer = await post('ask', { count: this.wanted, here });
      const ready = answer.places.length >= this.wanted;
      this.asking = ready ? null : answer.reason === 'on their way' ? 'A place is being computed …' : answer.reason;
      if (!ready && answer.reason === 'on their way') setTimeout(() => this.asking && this.#ask(), 700);
      await this.page.refresh();
    } catch (error) {
      this.asking = null;
      say(`No place could be asked for: ${error.status ? error.message : 'there is no connection'}.`, { kind: 'wrong' });
    }
    this.page.draw();
  }

  show(row, ways = null) {
    const found = ways && this.page.network.to_place(ways, row.place.index);
    this.page.chart.lines('way', found ? [found.line] : []);
    if (found?.line.length) this.page.chart.fit(found.line); else this.page.chart.go(row.place.at);
  }

  async change(row, action, words) {
    try {
      await post(`trials/${row.id}/${action}`);
      say(words);
    } catch (error) {
      say(error.status ? error.message : 'There is no connection; try again later.', { kind: 'wrong' });
    }
    await this.page.refresh();
  }

  /** The form of a value, for a place that was asked for or for one of their own. */
  open(row) {
    this.form = { row, at: null, failed: false, elsewhere: !row, value: '', note: '', reason: '', street: '', along: '' };
    if (row) this.page.chart.go(row.place.at);
    this.page.show('go');
    document.querySelector('#value, #street')?.focus();
  }

  close() {
    this.form = null;
    this.page.tap = null;
    this.page.chart.lines('way', []);
    this.page.draw();
  }

  /** A tap on the map while the form wants a place. */
  tapped(place) {
    if (!this.form?.elsewhere) return false;
    Object.assign(this.form, { at: place, unknown: null });
    this.page.draw();
    return true;
  }

  #form(panel) {
    const form = this.form, { state, network } = this.page, unit = state.study.value_unit, where = form.row?.place;
    const keep = (name) => (event) => { form[name] = event.target.value; };
    const choose = (name, value) => () => { form[name] = value; this.page.draw(); document.querySelector('#value')?.focus(); };
    const known = form.at && `${network.names[form.at.edge]}, ${this.page.along(form.at)}`;
    fill(panel, h('form', { class: 'form', submit: (event) => { event.preventDefault(); this.#save(); } },
      h('h2', {}, where ? where.name : 'A value elsewhere'), where && h('p', {}, where.words),
      h('div', { class: 'choice', role: 'group', 'aria-label': 'What came of it' },
        button('A value', choose('failed', false), '', { 'aria-pressed': String(!form.failed) }), button('No value', choose('failed', true), '', { 'aria-pressed': String(form.failed) })),
      form.failed
        ? [h('label', { for: 'reason' }, 'Why'), h('input', { id: 'reason', value: form.reason, list: 'reasons', maxlength: 500, autocomplete: 'off', input: keep('reason') }),
          h('datalist', { id: 'reasons' }, REASONS.map((value) => h('option', { value }))),
          h('div', { class: 'row' }, REASONS.map((value) => button(value, choose('reason', value), 'small')))]
        : [h('label', { for: 'value' }, `Value${unit ? ` in ${unit}` : ''}`), h('div', { class: 'value' },
          h('input', { id: 'value', value: form.value, inputmode: 'decimal', autocomplete: 'off', enterkeyhint: 'done', input: keep('value'), 'aria-describedby': 'wrong' }), unit && h('span', { 'aria-hidden': 'true' }, unit)),
          state.study.value_unit ? null : h('p', { class: 'faint' }, 'Say the unit with netbo study describe.')],
      h('p', { id: 'wrong', class: 'wrong', role: 'alert' }, form.wrong ?? ''),
      where && h('label', { class: 'tick' }, h('input', { type: 'checkbox', checked: form.elsewhere, change: (event) => { form.elsewhere = event.target.checked; form.at = null; this.page.tap = null; this.page.draw(); } }), 'Measured elsewhere'),
      form.elsewhere && h('fieldset', {}, h('legend', {}, 'Where? Tap the map, or say it'),
        h('p', { class: 'where', role: 'status' }, known ?? form.unknown ?? 'no place yet'),
        h('div', { class: 'pair' }, h('label', {}, 'Street or pipe', h('input', { id: 'street', value: form.street, list: 'streets', autocomplete: 'off', input: keep('street'), change: () => this.#spoken() })),
          h('label', {}, `Distance${network.unit ? `, ${network.unit}` : ''}`, h('input', { id: 'along', value: form.along, inputmode: 'decimal', autocomplete: 'off', input: keep('along'), change: () => this.#spoken() }))),
        h('datalist', { id: 'streets' }, [...new Set(network.names)].slice(0, 1000).map((value) => h('option', { value })))),
      h('label', { for: 'note' }, 'Note'), h('textarea', { id: 'note', rows: 2, maxlength: 2000, input: keep('note') }, form.note),
      h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main large' }, 'Save'), button('Back', () => this.close()))));
  }

  #spoken() {
    const { form, page: { network } } = this, { street, along } = form, edge = network.names.indexOf(street), distance = typed(along), place = distance == null || distance < 0 ? null : network.find(street, distance);
    form.at = place;
    form.unknown = !street || !along ? null : edge < 0 ? `No street or pipe is called “${street}”.` : place ? null
      : distance == null || distance < 0 ? 'A distance is a number, such as 120.' : `${street} is ${way(network.along(edge, 0).length, network.unit)} long here; tap the map instead.`;
    setTimeout(() => this.form === form && (place ? this.page.select(place) : this.page.draw())); // once the focus has moved on
  }

  async #save() {
    const form = this.form, value = form.failed ? null : typed(form.value);
    form.wrong = !form.failed && value == null ? 'Type a number, such as 31.5.' : form.elsewhere && !form.at ? 'Say where: tap the map, or name the street.' : null;
    if (form.wrong) { this.page.draw(); document.querySelector('#value')?.focus(); return; }
    const at = form.elsewhere ? { index: [form.at.edge, form.at.z] } : null, note = [form.failed && form.reason, form.note].filter(Boolean).join('; ');
    const label = form.elsewhere ? this.page.network.names[form.at.edge] : form.row.place.name;
    const { item, sent } = await this.page.queue.add({ trial: form.row?.id ?? null, at, value, note }, label, this.name);
    this.close();
    const stored = (await sent).get(item.key), waits = this.page.queue.items.find((each) => each.key === item.key);
    if (stored) say(value == null ? 'Stored: no value.' : `Stored: ${withUnit(value, this.page.state.study.value_unit)}.`, { act: value != null && (() => this.change(stored, 'withdraw', 'Taken back.')) });
    else if (waits && !waits.refused) say('No connection: kept on this phone, and sent when there is one.', { act: () => this.page.queue.remove(item.key) });
    else if (waits) say(`The server refused it: ${waits.refused}`, { kind: 'wrong' });
    await this.page.refresh();
  }

  /** Renew what is mine while the page is open. */
  renew() {
    const { state } = this.page;
    if (isStill || !state?.study.lease) return;
    for (const row of state.open) if (row.crew === this.name && row.expires && row.expires - state.now < state.study.lease / 2) post(`trials/${row.id}/renew`).catch(() => {});
  }
}
