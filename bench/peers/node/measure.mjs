// What the drivers of the Node.js peers have in common: the payload, the counts and the clock are
// those of `errand bench`.
import { performance } from "node:perf_hooks";

const CALLERS = 50;
const BULK = 1000;

// 200 bytes of JSON.
export const payload = (() => {
  const message = { to: "somebody@example.com", subject: "Your order", body: "" };
  message.body = "x".repeat(200 - JSON.stringify(message).length);
  return message;
})();

export const now = () => performance.timeOrigin + performance.now();

export function median(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

async function rate(count, work) {
  const began = now();
  await work();
  return (count * 1000) / (now() - began);
}

// Counts what a worker does until all is done, or time is up.
export class Countdown {
  #left;
  #count;
  #finish;
  #began;
  done = new Promise((resolve) => (this.#finish = resolve));

  constructor(count, seconds) {
    this.#count = count;
    this.#left = count;
    this.#began = now();
    this.timer = setTimeout(() => this.#end(), seconds * 1000);
  }

  tick(jobs = 1) {
    this.#left -= jobs;
    if (this.#left <= 0) this.#end();
  }

  get isOver() {
    return this.rate !== undefined;
  }

  #end() {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.rate = ((this.#count - this.#left) * 1000) / (now() - this.#began);
    this.#finish(this.rate);
  }
}

// peer: submit(payload), submitBulk(payloads), clear(), drain(count, seconds) → jobs/s,
// latency(trips) → figures, close(). Arguments: TASKS TRIPS SECONDS.
export async function measure(peer) {
  const [tasks, trips, seconds] = process.argv.slice(2, 5).map(Number);
  const figures = {};

  const alone = Math.max(Math.floor(tasks / 10), 100);
  await peer.submit(payload); // connections, prepared statements
  figures.submit_seq = await rate(alone, async () => {
    for (let i = 0; i < alone; ++i) await peer.submit(payload);
  });

  const each = Math.max(Math.floor(tasks / CALLERS), 10);
  const callers = (times) =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let i = 0; i < times; ++i) await peer.submit(payload);
      }),
    );
  await callers(1);
  figures.submit_c50 = await rate(each * CALLERS, () => callers(each));

  await peer.clear();
  figures.submit_bulk = await rate(tasks, async () => {
    for (let done = 0; done < tasks; done += BULK) {
      await peer.submitBulk(Array(Math.min(BULK, tasks - done)).fill(payload));
    }
  });
  figures.drain = await peer.drain(tasks, seconds);

  await peer.clear();
  if (peer.latency) Object.assign(figures, await peer.latency(trips));
  await peer.close();
  console.log(JSON.stringify(figures));
}
