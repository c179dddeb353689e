// graphile-worker, as its guide to performance tunes it: a local queue, batched completion.
import { fileURLToPath } from "node:url";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { fail, measure, median, now, payload, WARM_UP_TRIPS } from "./measure.mjs";
import { endWorker, isWorker, startWorker } from "./worker_process.mjs";

const TASK = "bench";
const CONCURRENCY = 24;
const LOCAL_QUEUE = 500;

const JOBS = "graphile_worker._private_jobs";
// Silent, but for errors.
const logger = new Logger(() => (level, message) => {
  if (level === "error") fail(new Error(message));
});
const pgPool = new pg.Pool({ max: 50 });
pgPool.on("error", fail);

const start = (handler, tuning) =>
  run({
    preset: { worker: { concurrentJobs: CONCURRENCY, ...tuning } },
    pgPool,
    logger,
    noHandleSignals: true,
    taskList: { [TASK]: handler },
  });

if (isWorker) {
  // A local queue makes the first job wait; for latency it is better without.
  await start(() => process.send(now()), {});
  process.send("ready");
} else {
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();

  await measure({
    submit: (data) => utils.addJob(TASK, data),
    submitBulk: (all) => utils.addJobs(all.map((data) => ({ identifier: TASK, payload: data }))),
    clear: () => pgPool.query(`TRUNCATE ${JOBS}`),
    refreshStatistics: () => pgPool.query(`VACUUM ANALYZE ${JOBS}`),

    async startWorker(countdown) {
      const runner = await start(() => countdown.tick(), {
        localQueue: { size: LOCAL_QUEUE },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      });
      return () => runner.stop();
    },

    // Completed jobs are deleted.
    async hasUncompleted() {
      const found = await pgPool.query(`SELECT FROM ${JOBS} LIMIT 1`);
      return found.rowCount > 0;
    },

    async latency(trips) {
      let began;
      let arrived;
      const samples = [];
      const worker = await startWorker(fileURLToPath(import.meta.url), (startedAt) => {
        samples.push(startedAt - began);
        arrived();
      });
      for (let i = 0; i < trips + WARM_UP_TRIPS; ++i) {
        const started = new Promise((resolve) => (arrived = resolve));
        began = now();
        await utils.addJob(TASK, payload);
        await started;
      }
      await endWorker(worker);
      return { start_p50_ms: median(samples.slice(WARM_UP_TRIPS)) };
    },

    async close() {
      await utils.release();
      await pgPool.end();
    },
  });
}
