// A worker in a process of its own, which says when it is ready and when jobs begin.
import { fork } from "node:child_process";
import { fail } from "./measure.mjs";

const ROLE = "--worker";

export const isWorker = process.argv.includes(ROLE);

export async function startWorker(script, onMessage = () => {}) {
  const child = fork(script, [ROLE], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the worker ended with status ${code}`)));
  });
  child.on("message", onMessage);
  child.on("exit", (code) => {
    if (!child.killed) fail(new Error(`the worker ended with status ${code}`));
  });
  return child;
}

export async function endWorker(child) {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
