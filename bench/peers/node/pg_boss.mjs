// pg-boss, with batches, several workers, and no pause while batches are full.
import pg from "pg";
import { PgBoss } from "pg-boss";
import { fail, measure } from "./measure.mjs";

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
boss.on("error", fail);
await boss.start();
await boss.createQueue(QUEUE);
const database = new pg.Client();
await database.connect();

await measure({
  submit: (data) => boss.send(QUEUE, data),
  submitBulk: (all) => boss.insert(QUEUE, all.map((data) => ({ data }))),
  clear: () => boss.deleteAllJobs(QUEUE),

  refreshStatistics: () => database.query("VACUUM ANALYZE pgboss.job"),

  async startWorker(countdown) {
    const tuning = { batchSize: BATCH, localConcurrency: WORKERS, burstWhenBatchFull: true };
    await boss.work(QUEUE, { ...tuning, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      countdown.tick(jobs.length);
    });
    return () => boss.offWork(QUEUE);
  },

  async hasUncompleted() {
    const found = await database.query(
      "SELECT FROM pgboss.job WHERE name = $1 AND state <> 'completed' LIMIT 1",
      [QUEUE],
    );
    return found.rowCount > 0;
  },

  async close() {
    await database.end();
    await boss.stop({ graceful: false });
  },
});
process.exit(0);
