// Elements from plain text: nothing that people write becomes markup.

export const $ = (selector, root = document) => root.querySelector(selector);

/** An element; text is text, functions are listeners, true and false are attributes that are there or not. */
export function h(tag, props = {}, ...children) {
  const [, svg, name] = /^(svg:)?(.*)$/.exec(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(3).filter((child) => child != null && child !== false));
  return element;
}

/** Trials by when they were told; those of a run without a clock by their order. */
export const byTime = (a, b) => (a.ended ?? a.order ?? a.began ?? 0) - (b.ended ?? b.order ?? b.began ?? 0);

export const fill = (element, ...children) => element.replaceChildren(...children.flat(3).filter(Boolean));

/** A button; `kind` is how much it matters. */
export const button = (text, act, kind = '', more = {}) => h('button', { type: 'button', class: kind, click: act, ...more }, text);

export const number = (value, digits = 4) =>
  value == null || !Number.isFinite(value) ? '–' : String(Number(value.toPrecision(digits)));
export const withUnit = (value, unit) => number(value) + (unit ? ` ${unit}` : '');
export const percent = (share) => (share > 0 && share < 0.01 ? 'under 1 %' : `${Math.round(100 * share)} %`);

/** A length as one would say it on the way. */
export function way(value, unit) {
  if (value == null || !Number.isFinite(value)) return 'no way there';
  if (unit === 'm' && value >= 995) return `${number(value / 1000, 3)} km`;
  return unit === 'm' ? `${Math.round(value)} m` : `${number(value, 3)}${unit ? ` ${unit}` : ''}`;
}

/** Hour and minute, with the day unless it is today. */
export function clock(seconds) {
  if (seconds == null) return '';
  const at = new Date(1000 * seconds), hour = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return at.toDateString() === new Date().toDateString() ? hour
    : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${hour}`;
}

export function age(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A number as people type it, with point or comma; null if it is none. */
export function typed(text) {
  const plain = text.trim().replace(/\s/g, '').replace(',', '.');
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : null;
}

/** A message at the foot of the page, with something to do about it. */
export function say(text, { act = null, label = 'Undo', kind = '' } = {}) {
  const note = h('div', { class: `note ${kind}`, role: kind === 'wrong' ? 'alert' : 'status' }, h('span', {}, text),
    act && button(label, () => { note.remove(); act(); }, 'plain'),
    button('×', () => note.remove(), 'plain', { 'aria-label': 'close this message' }));
  const notes = $('#notes');
  while (notes.children.length > 2) notes.firstChild.remove();
  notes.append(note);
  if (kind !== 'wrong') setTimeout(() => note.remove(), 9000);
}

export function save(name, content, type) {
  const link = h('a', { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}
