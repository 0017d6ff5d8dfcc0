// Values on their way: kept in the browser until the server has each of them, once.

import { ask, randomKey, Refused, store } from './source.js';

const FINAL = (status) => status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status);

export class Queue {
  constructor(changed) {
    this.changed = changed; // called with what waits, whenever that is another
    this.items = [];
    this.busy = null;
  }

  async open() {
    this.base = await new Promise((resolve, reject) => {
      const request = indexedDB.open('netbo', 1);
      request.onupgradeneeded = () => request.result.createObjectStore('values', { keyPath: 'key' });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    await this.#read();
    addEventListener('online', () => this.flush());
    setInterval(() => this.flush(), 4000);
    await this.flush();
  }

  #run(mode, work) {
    return new Promise((resolve, reject) => {
      const turn = this.base.transaction('values', mode), request = work(turn.objectStore('values'));
      turn.oncomplete = () => resolve(request.result);
      turn.onerror = turn.onabort = () => reject(turn.error);
    });
  }

  async #read() {
    this.items = (await this.#run('readonly', (store) => store.getAll())).filter((item) => item.here === store);
    this.items.sort((a, b) => a.when - b.when);
    this.changed(this.items);
  }

  /** Keep a value, then send it; it has its key from now on. */
  async add(body, label, who) {
    const item = { key: randomKey(), body, label, who, when: Date.now(), here: store };
    await this.#run('readwrite', (store) => store.put(item));
    await this.#read();
    return { item, sent: this.flush() };
  }

  async remove(key) {
    await this.#run('readwrite', (store) => store.delete(key));
    await this.#read();
  }

  /** Send what waits, one after another; what the server refuses for good stays to be seen. */
  flush() {
    this.busy ??= this.#send().finally(() => { this.busy = null; });
    return this.busy;
  }

  async #send() {
    const sent = new Map();
    for (let item; (item = this.items.find((each) => !each.refused)); ) {
      try {
        sent.set(item.key, (await ask('values', { method: 'POST', body: item.body, key: item.key })).trial);
      } catch (error) {
        if (!(error instanceof Refused) || !FINAL(error.status)) { this.trouble = error; this.changed(this.items); return sent; }
        await this.#run('readwrite', (store) => store.put({ ...item, refused: error.message }));
        await this.#read();
        continue;
      }
      this.trouble = null;
      await this.remove(item.key);
    }
    return sent;
  }
}
