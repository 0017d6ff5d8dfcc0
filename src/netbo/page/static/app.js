// The page: fetches what is new, shows the panel that was chosen, and puts everything on the map.

import { $, age, button, fill, h, say, way } from './dom.js';
import { Network } from './network.js';
import { enter, follow, get, isStill, post, Refused, settings } from './source.js';
import { Queue } from './queue.js';
import { Chart, VIEWS } from './map.js';
import { CrewPanel } from './crew.js';
import { Panels } from './manager.js';

const TABS = { go: ['Go', ['crew', 'manager']], progress: ['Progress', []], search: ['Walk', []], history: ['History', []], table: ['Table', []], more: ['More', []] };

class Page {
  constructor() {
    Object.assign(this, { trials: [], state: null, tab: null, shown: null, isOn: isStill, version: null, still: isStill });
    this.queue = new Queue(() => this.state && this.news());
    if (isStill) this.queue.changed = () => {};
    this.crew = new CrewPanel(this);
    this.panels = new Panels(this);
    const hold = (isHeld) => () => { this.held = isHeld; if (!isHeld && this.late) setTimeout(() => { this.late = false; this.news(); }, 200); };
    $('#panel').addEventListener('pointerdown', hold(true));
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, hold(false));
  }

  get me() { return this.state.me; }

  async open() {
    await enter();
    this.state = await get('state');
    document.title = this.state.study.title;
    $('#title').textContent = this.state.study.title;
    const [said, packed] = [await get('network'), await get('network/lines')];
    this.network = new Network(said, packed);
    this.chart = new Chart(this.network, { tapped: (place) => this.tapped(place), background: settings.background });
    this.#tabs();
    await this.refresh();
    $('#start').remove();
    document.body.classList.add('ready');
    await this.chart.ready;
    this.mark();
    if (isStill) return;
    await this.queue.open().catch((error) => say(`This browser keeps nothing: values are lost without a connection (${error.message}).`, { kind: 'wrong' }));
    follow((version) => { if (version !== this.version) this.refresh(); }, (isOn) => { this.isOn = isOn; this.#status(); if (isOn) this.queue.flush(); });
    setInterval(() => this.crew.renew(), 20000);
    setInterval(() => this.#status(), 5000);
    this.#gps();
    navigator.serviceWorker?.register('sw.js').catch(() => {});
  }

  /** Fetch what is new; one round at a time, and one more if there was news meanwhile. */
  async refresh() {
    if (this.fetching) { this.again = true; return this.fetching; }
    this.fetching = this.#fetch().finally(() => { this.fetching = null; });
    await this.fetching;
    if (this.again) { this.again = false; await this.refresh(); }
  }

  async #fetch() {
    try {
      [this.state, { trials: this.trials }] = await Promise.all([get('state'), get('history')]);
      this.version = this.state.version;
      this.heard = Date.now();
      const model = this.state.model?.legends && Object.keys(this.state.model.legends).length ? this.state.model : null;
      if (model && model.id !== this.shown) {
        const views = Object.keys(VIEWS), bytes = await Promise.all(views.map((view) => get(`levels/${view}`)));
        views.forEach((view, k) => { this.network.levels[view] = bytes[k] && new Uint8Array(bytes[k]); });
        this.shown = model.id;
        this.chart.know(model.legends);
      } else if (!model) this.chart.know(null);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) say(error.message, { kind: 'wrong' });
      if (!this.trials) throw error;
      this.isOn = false;
    }
    this.news();
  }

  /** Show what is new; a form that somebody types into is left alone, and a button that is pressed stays until it is let go. */
  news() {
    if (this.held) this.late = true;
    else if (this.tab !== 'go' || !this.crew.form) { this.draw(); return; }
    this.#status();
    this.mark();
  }

  /** The clock of the server counts: phones are set by hand. */
  modelAge() {
    return age((Date.now() - this.heard) / 1000 + this.state.now - this.state.model.made);
  }

  #tabs() {
    const mine = Object.entries(TABS).filter(([name, [, roles]]) => (!roles.length || roles.includes(this.me.role)) && !(isStill && name === 'go'));
    const [first] = mine.find(([name]) => name === (this.me.role === 'crew' ? 'go' : 'progress'));
    this.tab = first;
    fill($('#tabs'), mine.map(([name, [words]]) => h('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel', click: () => this.show(name) }, words)));
    $('#tabs').addEventListener('keydown', (event) => {
      const names = mine.map(([name]) => name), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { this.show(names[(names.indexOf(this.tab) + step + names.length) % names.length]); $(`#tab-${this.tab}`).focus(); }
    });
  }

  show(tab) {
    if (tab !== 'search') this.chart.lines('parts', []);
    if (this.tab !== tab) { this.tab = tab; $('#panel').scrollTop = 0; }
    this.draw();
  }

  /** Draw the panel again; focus, what was typed and what was opened stay. */
  draw() {
    const panel = $('#panel'), called = (each) => each.id || each.getAttribute('aria-label') || each.textContent, held = document.activeElement;
    const name = panel.contains(held) && held !== panel ? called(held) : null, from = held?.selectionStart, same = () => [...panel.querySelectorAll(held.tagName)].filter((each) => called(each) === name);
    const k = name == null ? 0 : same().indexOf(held), typed = [...panel.querySelectorAll('[data-keep]')].map(({ id, value }) => [id, value]), opened = new Set([...panel.querySelectorAll('[open] > summary')].map(called));
    for (const tab of document.querySelectorAll('#tabs button')) { const on = tab.id === `tab-${this.tab}`; tab.setAttribute('aria-selected', String(on)); tab.tabIndex = on ? 0 : -1; }
    panel.setAttribute('aria-labelledby', `tab-${this.tab}`);
    if (this.tab === 'go') this.crew.draw(panel); else this.panels[this.tab](panel);
    for (const [id, value] of typed) { const again = document.getElementById(id); if (again) again.value = value; }
    for (const each of panel.querySelectorAll('summary')) each.parentElement.open = opened.has(called(each));
    if (name != null) {
      const again = same()[k] ?? same()[0];
      again?.focus({ preventScroll: true });
      if (from != null && again?.setSelectionRange) try { again.setSelectionRange(from, from); } catch { /* not every input has one */ }
    }
    this.#status();
    this.mark();
  }

  #status() {
    if (isStill) { $('#status').textContent = this.state.now ? `as of ${new Date(1000 * this.state.now).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}` : ''; return; }
    const waiting = this.queue.items.filter((item) => !item.refused).length, { model, trouble } = this.state;
    const words = waiting ? `${waiting} to send` : !this.isOn ? 'no connection' : trouble ? 'trouble' : model?.behind > 0 || this.state.computing ? 'computing …' : 'up to date';
    $('#status').textContent = words;
    $('#status').className = `status ${waiting || !this.isOn ? 'waiting' : trouble ? 'wrong' : ''}`;
    $('#status').title = trouble ?? (model ? `The model is ${this.modelAge()} old and knows ${model.values} values.` : '');
    $('#who').textContent = [...new Set([this.me.name, this.me.role])].join(', ');
  }

  /** Everything that has a place, on the map; those of the list, or mine, with their numbers. */
  mark(listed = null) {
    if (!this.chart || !this.state) return;
    const { state, network } = this, mine = new Map((listed ?? (this.crew.placed ?? []).map(({ row }) => row)).map((row, k) => [row.id, k + 1])), marks = [];
    for (const row of this.trials) if (['observed', 'failed'].includes(row.status)) marks.push({ kind: row.status, at: row.place.at, trial: row.id });
    for (const row of state.open) {
      const k = listed || row.crew === this.me.name ? mine.get(row.id) : null;
      marks.push({ kind: k ? 'mine' : row.status === 'waiting' ? 'waiting' : 'next', text: k, at: row.place.at, trial: row.id });
    }
    if (state.model?.recommend) marks.push({ kind: 'recommended', at: state.model.recommend.place.at });
    if (this.findings) for (const each of network.findings) if (each.at) marks.push({ kind: 'finding', at: each.at });
    if (this.crew.here) marks.push({ kind: 'here', at: this.gps });
    if (this.tap) marks.push({ kind: 'tap', at: network.at(this.tap.edge, this.tap.z) });
    this.chart.place(marks);
  }

  /** A tap: a place of my own opens its form, others are told about. */
  tapped({ edge, z, off, trial }) {
    if (off > 60) return;
    const open = this.state.open.find((row) => row.id === trial);
    if (open && !this.crew.form && open.crew === this.me.name && !isStill && open.status === 'pending') { this.crew.open(open); return; }
    this.select({ edge, z });
  }

  select(place, far = false) {
    const { network } = this;
    this.tap = place;
    this.panels.edge = place.edge;
    if (far) this.chart.go(network.at(place.edge, place.z));
    if (this.crew.tapped(place)) return;
    const legends = this.state.model?.legends, i = network.first[place.edge] + [...network.to.subarray(network.first[place.edge], network.first[place.edge + 1])].findIndex((to) => to >= place.z - 1e-6);
    const value = legends?.mean && network.value('mean', i, legends.mean), sd = legends?.sd && network.value('sd', i, legends.sd), unit = this.state.study.value_unit ?? '';
    fill($('#tip'), h('b', {}, network.names[place.edge]), `, ${this.along(place)}`,
      value != null && h('div', {}, `expected ${value.toPrecision(3)} ${unit}${sd != null ? ` ± ${(2 * sd).toPrecision(2)}` : ''}`), this.me.role === 'manager' && !isStill && h('div', {}, button('Send a crew here', () => this.#enqueue(place), 'small')),
      button('×', () => { this.tap = null; $('#tip').hidden = true; this.mark(); }, 'plain close', { 'aria-label': 'close' }));
    $('#tip').hidden = false;
    this.draw();
  }

  /** How far along its street a place is, and from which end that is counted. */
  along({ edge, z }) {
    const { distance, side } = this.network.along(edge, z);
    return `${way(distance, this.network.unit)} ${side ? `from its ${side} end` : 'along'}`;
  }

  async #enqueue({ edge, z }) {
    try {
      await post('queue', { index: [edge, z] });
      say('In line: whoever asks next gets this place.');
    } catch (error) { say(error.message, { kind: 'wrong' }); }
    await this.refresh();
  }

  /** A place as a button that shows it. */
  link(place) {
    return button(place.name, () => this.select({ edge: place.index[0], z: place.index[1] }, true), 'link');
  }

  #gps() {
    if (!this.network.earth || !navigator.geolocation || !isSecureContext) return;
    const locate = button('◎', () => {
      this.watch ??= navigator.geolocation.watchPosition(({ coords }) => {
        this.gps = this.network.plane(coords.longitude, coords.latitude);
        const { edge, z } = this.network.nearest(this.gps);
        this.crew.here = [edge, z];
        if (!locate.hidden) { locate.hidden = true; this.chart.go(this.gps); }
        if (!this.crew.form) this.draw(); else this.mark();
      }, (error) => { navigator.geolocation.clearWatch(this.watch); this.watch = null; say(`Your position is not known: ${error.message}.`, { kind: 'wrong' }); }, { enableHighAccuracy: true, maximumAge: 10000 });
    }, '', { id: 'locate', 'aria-label': 'Where am I?', title: 'Where am I?' });
    $('#corner').prepend(locate);
  }
}

const page = new Page();
page.open().catch((error) => {
  console.error(error);
  $('#start').replaceChildren(h('p', {}, error.status === 401 ? 'This page opens by a link: the one of your crew, or the manager’s.' : error.status ? error.message : 'There is no answer from the server.'),
    button('Try again', () => location.reload(), 'main'));
});
window.netbo = page; // for programs that look at the page
