// BullMQ. Completed jobs are kept with what their handlers returned, as they are by default.
import { fileURLToPath } from "node:url";
import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import { fail, measure, median, now, payload, WARM_UP_TRIPS } from "./measure.mjs";
import { endWorker, isWorker, startWorker } from "./worker_process.mjs";

const QUEUE = "bench";
const CONCURRENCY = 50;

const connect = () =>
  new Redis({
    path: process.env.REDIS_SOCKET,
    db: Number(process.env.REDIS_DATABASE),
    maxRetriesPerRequest: null,
  });
const handle = async (job) => job.data;

if (isWorker) {
  const worker = new Worker(QUEUE, handle, { connection: connect(), concurrency: CONCURRENCY });
  await worker.waitUntilReady();
  process.send("ready");
} else {
  const queue = new Queue(QUEUE, { connection: connect() });
  await queue.waitUntilReady();

  await measure({
    submit: (data) => queue.add("job", data),
    submitBulk: (all) => queue.addBulk(all.map((data) => ({ name: "job", data }))),
    clear: () => queue.obliterate({ force: true }),

    async startWorker(countdown) {
      const worker = new Worker(QUEUE, handle, {
        connection: connect(),
        concurrency: CONCURRENCY,
      });
      worker.on("error", fail);
      worker.on("completed", () => countdown.tick());
      return () => worker.close();
    },

    async hasUncompleted() {
      const counts = await queue.getJobCounts("waiting", "active", "delayed", "failed");
      return Object.values(counts).some((count) => count > 0);
    },

    async latency(trips) {
      const worker = await startWorker(fileURLToPath(import.meta.url));
      const events = new QueueEvents(QUEUE, { connection: connect() });
      await events.waitUntilReady();
      const samples = [];
      for (let i = 0; i < trips + WARM_UP_TRIPS; ++i) {
        const began = now();
        const job = await queue.add("job", payload);
        await job.waitUntilFinished(events);
        if (i >= WARM_UP_TRIPS) samples.push(now() - began);
      }
      await endWorker(worker);
      await events.close();
      return { e2e_p50_ms: median(samples) };
    },

    close: () => queue.close(),
  });
  process.exit(0);
}
