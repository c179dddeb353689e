// pg-boss, with batches, several workers, and no pause while batches are full.
import { PgBoss } from "pg-boss";
import { Countdown, measure } from "./measure.mjs";

const QUEUE = "bench";
const WORKERS = 4;
const BATCH = 500;

const boss = new PgBoss({
  host: process.env.PGHOST,
  user: process.env.PGUSER,
  database: process.env.PGDATABASE,
  max: 50,
  supervise: false,
  schedule: false,
});
boss.on("error", () => {});
await boss.start();
await boss.createQueue(QUEUE);

await measure({
  submit: (data) => boss.send(QUEUE, data),
  submitBulk: (all) => boss.insert(QUEUE, all.map((data) => ({ data }))),
  clear: () => boss.deleteAllJobs(QUEUE),

  async drain(count, seconds) {
    const countdown = new Countdown(count, seconds);
    const tuning = { batchSize: BATCH, localConcurrency: WORKERS, burstWhenBatchFull: true };
    await boss.work(QUEUE, { ...tuning, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      countdown.tick(jobs.length);
    });
    return countdown.done;
  },

  close: () => boss.stop({ graceful: false }),
});
process.exit(0);
