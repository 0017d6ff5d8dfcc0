// Where the data come from: a server with live updates, or the page itself.

export const settings = JSON.parse(document.getElementById('data').textContent);
export const isStill = Boolean(settings.still);
export const store = settings.store ?? location.pathname; // what is kept in the browser belongs to one study

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

/** A request; Refused if the server said no, TypeError if nobody answered. */
export async function ask(path, { method = 'GET', body, key, seconds = 15 } = {}) {
  const ends = new AbortController(), timer = setTimeout(() => ends.abort(), 1000 * seconds);
  try {
    const headers = { 'x-netbo': '1', ...(body && { 'content-type': 'application/json' }), ...(key && { 'idempotency-key': key }) };
    const answer = await fetch(`api/v1/${path}`, { method, headers, body: body && JSON.stringify(body), signal: ends.signal, credentials: 'same-origin' });
    if (!answer.ok) throw new Refused(answer.status, (await answer.json().catch(() => ({}))).detail ?? `the server answered ${answer.status}`);
    return /json/.test(answer.headers.get('content-type')) ? await answer.json() : await answer.arrayBuffer();
  } finally {
    clearTimeout(timer);
  }
}

export const post = (path, body = {}, key = undefined) => ask(path, { method: 'POST', body, key });

const unpacked = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** One document: from the server, or as it was when the file was written. */
export async function get(name) {
  if (!isStill) return ask(name);
  if (name === 'network/lines') return unpacked(settings.lines).buffer;
  if (name.startsWith('levels/')) return settings.levels[name.slice(7)] && unpacked(settings.levels[name.slice(7)]).buffer;
  return settings[name];
}

/** The token of a link is in its fragment, which no server and no log sees; it becomes a cookie. */
export async function enter() {
  const token = location.hash.slice(1);
  if (isStill || !token.includes('.')) return;
  await post('session', { token });
  history.replaceState(null, '', location.pathname);
}

/** Call when there is something new; look now and then where streams do not come through. */
export function follow(changed, connected) {
  if (isStill) return;
  let stream, heard = 0;
  const open = () => {
    stream?.close();
    stream = new EventSource('api/v1/events');
    stream.onmessage = (event) => { heard = Date.now(); connected(true); changed(Number(event.data)); };
    stream.onerror = () => { connected(false); if (stream.readyState === 2) setTimeout(open, 3000); };
  };
  open();
  addEventListener('online', open);
  addEventListener('offline', () => connected(false));
  setInterval(() => { if (Date.now() - heard > 20000) changed(null); }, 10000);
}

export function randomKey() { // crypto.randomUUID is missing on plain http
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
