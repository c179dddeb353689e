// What the drivers of the Node.js peers have in common: the payload, the counts and the clock are
// those of `errand bench`.

const CALLERS = 50;
const BULK = 1000;
const START_SECONDS = 30;
const COMPLETION_SECONDS = 10;

// Trips before those that count, as many as `errand bench` discards.
export const WARM_UP_TRIPS = 20;

// 200 bytes of JSON.
export const payload = (() => {
  const message = { to: "somebody@example.com", subject: "Your order", body: "" };
  message.body = "x".repeat(200 - JSON.stringify(message).length);
  return message;
})();

// Milliseconds of CLOCK_MONOTONIC, which all processes share. (performance.timeOrigin is read apart
// from the clock that it belongs to: two processes may be milliseconds apart by it.)
export const now = () => Number(process.hrtime.bigint()) / 1e6;

export function median(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

// A peer that reports errors has not done the work that is measured.
export function fail(error) {
  console.error(error);
  process.exit(1);
}

async function rate(count, work) {
  const began = now();
  await work();
  return (count * 1000) / (now() - began);
}

// Counts what a worker does from its first job until it has handled all, or time is up: what a worker needs
// to start is not measured. The jobs of the first tick only start the clock.
export class Countdown {
  #count;
  #seconds;
  #done = 0;
  #first = 0;
  #began;
  #timer;
  #finish;
  handled = new Promise((resolve) => (this.#finish = resolve));
  #ended = false;

  constructor(count, seconds) {
    this.#count = count;
    this.#seconds = seconds;
    this.#timer = setTimeout(
      () => fail(new Error(`no job began within ${START_SECONDS} s`)),
      START_SECONDS * 1000,
    );
  }

  tick(jobs = 1) {
    if (this.#ended) return;
    this.#done += jobs;
    if (this.#began === undefined) {
      this.#began = now();
      this.#first = jobs;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#end(), this.#seconds * 1000);
    }
    if (this.isComplete) this.#end();
  }

  get isComplete() {
    return this.#done >= this.#count;
  }

  #end() {
    clearTimeout(this.#timer);
    this.#ended = true;
    this.#finish();
  }

  // Now, at the end.
  rate() {
    return ((this.#done - this.#first) * 1000) / (now() - this.#began);
  }
}

// A handler that was entered is not yet a job that is completed: the server has the last word.
async function waitForCompletion(peer) {
  const until = now() + COMPLETION_SECONDS * 1000;
  while (await peer.hasUncompleted()) {
    if (now() > until) throw new Error("some jobs were not completed after the drain");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

// All that waits, by a worker in this process, or as much as it does in these seconds; returns the rate.
async function drain(peer, count, seconds) {
  await peer.refreshStatistics?.();
  const countdown = new Countdown(count, seconds);
  const stopWorker = await peer.startWorker(countdown);
  await countdown.handled;
  if (countdown.isComplete) await waitForCompletion(peer);
  const rate = countdown.rate();
  await stopWorker();
  return rate;
}

// peer: submit(payload), submitBulk(payloads), clear(), refreshStatistics() where the server plans by
// them, startWorker(countdown) → what stops it, and has stopped it when it returns, hasUncompleted(),
// latency(trips) → figures, close().
// Arguments: TASKS TRIPS SECONDS.
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

  // As `errand bench` does: what was submitted so far warms up what drains.
  await drain(peer, 1 + alone + CALLERS + each * CALLERS, seconds);
  await peer.clear();
  await peer.refreshStatistics?.(); // which also takes away what was cleared
  figures.submit_bulk = await rate(tasks, async () => {
    for (let done = 0; done < tasks; done += BULK) {
      await peer.submitBulk(Array(Math.min(BULK, tasks - done)).fill(payload));
    }
  });
  figures.drain = await drain(peer, tasks, seconds);
  await peer.clear();
  if (peer.latency) Object.assign(figures, await peer.latency(trips));
  await peer.close();
  console.log(JSON.stringify(figures));
}
