// Runs the built `errand` on a storage of its own.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = process.env.ERRAND_BIN;

/** A storage, the server on it, and as many workers as asked for. */
export class Program {
  constructor(environment = {}) {
    this.directory = mkdtempSync(join(tmpdir(), 'errand-browser-'));
    this.database = join(this.directory, 'tasks.db');
    this.environment = { ...process.env, ...environment, ERRAND_DSN: `sqlite:${this.database}` };
    this.children = [];
  }

  errand(...args) {
    return execFileSync(PROGRAM, args, { env: this.environment, cwd: this.directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  /** Until a line of the log says what is expected. */
  #start(args, expected) {
    const child = spawn(PROGRAM, args, { env: this.environment, cwd: this.directory, stdio: ['ignore', 'ignore', 'pipe'] });
    this.children.push(child);
    return new Promise((resolve, reject) => {
      const log = [];
      createInterface({ input: child.stderr }).on('line', (line) => {
        log.push(line);
        const found = expected.exec(line);
        if (found) resolve({ child, found });
      });
      child.on('exit', () => reject(new Error(`errand ${args.join(' ')} ended:\n${log.join('\n')}`)));
    });
  }

  /** The address it listens at. */
  async serve(options = [], port = 0) {
    const { child, found } = await this.#start(['serve', '--listen', `127.0.0.1:${port}`, ...options], /serves (http\S+?);/);
    this.server = child;
    this.url = found[1];
    return this.url;
  }

  async worker(...options) {
    return (await this.#start(['worker', ...options], /worker \S+ serves/)).child;
  }

  /** What another program with access to the database could do. */
  sql(text) {
    return execFileSync('sqlite3', ['-cmd', '.timeout 30000', this.database], { input: text, encoding: 'utf8', maxBuffer: 1 << 28 }).trim();
  }

  async ask(method, path, body, headers = {}) {
    const response = await fetch(this.url + path, {
      method, body: typeof body === 'object' ? JSON.stringify(body) : body,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async submit(type, payload = {}, members = {}) {
    return (await this.ask('POST', '/api/tasks', { type, payload, ...members })).taskId;
  }

  async submitMany(tasks) {
    const lines = tasks.map((task) => JSON.stringify(task)).join('\n');
    return (await this.ask('POST', '/api/tasks', lines, { 'Content-Type': 'application/x-ndjson' })).taskIds;
  }

  result(id) {
    return this.ask('GET', `/api/tasks/${id}/result?wait=30s`);
  }

  async stop(child, signal = 'SIGTERM') {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill(signal);
    await ended;
  }

  async close() {
    for (const child of this.children) {
      child.removeAllListeners('exit');
      await this.stop(child, 'SIGKILL');
    }
    rmSync(this.directory, { recursive: true });
  }
}

/** As a literal of SQL. */
export function quoted(text) {
  return `'${String(text).replaceAll("'", "''")}'`;
}
