// Changes as they happen, from /api/events. By fetch(), because EventSource cannot send a token.
// One stream for the page, and none while nobody looks: a browser opens six connections to a server
// at most, for all tabs together.

import { request, address } from './api.js';

const FIRST_DELAY = 500;
const LONGEST_DELAY = 10_000;

export class EventStream {
  /**
   * onEvent(name, data); onState('live' | 'lost'); onGap(): changes may have been missed, read again.
   */
  constructor({ onEvent, onState, onGap }) {
    this.onEvent = onEvent;
    this.onState = onState;
    this.onGap = onGap;
    this.wanted = null;
    this.connection = null;
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) {
        this.#close();
      } else if (this.wanted && !this.connection) {
        this.onGap();
        this.#open();
      }
    });
  }

  /** `query`: {topics, task}; null: nothing. */
  listen(query) {
    const path = query && address('/api/events', query);
    if (path === this.wanted && this.connection) return;
    this.wanted = path;
    this.#close();
    if (path && !document.hidden) this.#open();
  }

  #close() {
    this.connection?.abort();
    this.connection = null;
  }

  async #open() {
    const connection = new AbortController();
    this.connection = connection;
    let delay = FIRST_DELAY;
    while (this.connection === connection) {
      try {
        const response = await request('GET', this.wanted, {
          headers: { Accept: 'text/event-stream' },
          signal: connection.signal,
        });
        this.onState('live');
        if (delay !== FIRST_DELAY) this.onGap();
        delay = FIRST_DELAY;
        await this.#read(response.body, connection);
      } catch (error) {
        if (this.connection !== connection) return;
        if (error.status === 401) return;
      }
      if (this.connection !== connection) return;
      this.onState('lost');
      await new Promise((done) => setTimeout(done, delay));
      delay = Math.min(delay * 2, LONGEST_DELAY);
    }
  }

  async #read(body, connection) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done || this.connection !== connection) return;
      rest += value;
      let end;
      while ((end = rest.indexOf('\n\n')) !== -1) {
        this.#deliver(rest.slice(0, end));
        rest = rest.slice(end + 2);
      }
    }
  }

  #deliver(frame) {
    let name = 'message';
    let data = '';
    for (const line of frame.split('\n')) {
      if (line.startsWith('event: ')) name = line.slice(7);
      if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (data) this.onEvent(name, JSON.parse(data));
  }
}
