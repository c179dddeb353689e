// node million.mjs: how the dashboard feels with a million tasks. Prints the table of docs/dashboard.md.
// scripts/bench-dashboard runs it.

import { openPage, startChromium } from './chromium.mjs';
import { Program } from './program.mjs';

const TASKS = 1_000_000;
const ROUNDS = 5;

const program = new Program();
const browser = await startChromium();
const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const print = (name, text) => console.log(`| ${name} | ${text} |`);

/** `action(round)` some times over; prints the median. */
async function measure(name, action, rounds = ROUNDS) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await action(round);
    times.push(performance.now() - began);
  }
  print(name, `${Math.round(median(times))} ms`);
}

try {
  program.errand('setup');
  program.sql(`insert into async_tasks (task_id, status, submitted_at, started_at, completed_at, version, queue_name, type, available_at, attempts, result, payload)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < ${TASKS - 1})
    select printf('%08x-0000-4000-8000-000000000000', i), 'completed', t, t, t, 2, 'q' || (i % 4), 'type.' || (i % 7), t, 1, '{}', '{}'
    from (select i, strftime('%Y-%m-%d %H:%M:%f000', 'now', '-' || ((${TASKS} - i) / 20) || ' seconds') as t from n);`);
  await program.serve();
  const page = await openPage(browser);
  const firstRow = () => page.evaluate(() => document.querySelector('table.tasks tbody tr')?.dataset.task);
  const changed = (before) => page.waitForFunction((id) => {
    const now = document.querySelector('table.tasks tbody tr')?.dataset.task;
    return now && now !== id;
  }, before, { polling: 5 });

  await measure('Tasks, opened', async () => {
    await page.goto(`${program.url}/tasks`);
    await page.locator('table.tasks tbody tr').first().waitFor();
  });
  await measure('the next page', async () => {
    const before = await firstRow();
    await page.getByRole('link', { name: 'Older' }).click();
    await changed(before);
  });
  await measure('page 10,000, by its number', async (round) => {
    await page.goto(`${program.url}/tasks?page=${10_000 + round}`);
    await page.locator('table.tasks tbody tr').first().waitFor();
  });
  await measure('filtered by type and queue', async (round) => {
    await page.goto(`${program.url}/tasks?type=type.${round}&queue=q${round % 4}`);
    await page.locator('table.tasks tbody tr').first().waitFor();
  });
  await measure('one of the oldest tasks', async (round) => {
    await page.goto(`${program.url}/tasks/0000000${round}-0000-4000-8000-000000000000`);
    await page.locator('.timeline').waitFor();
  });
  await measure('Overview, opened', async () => {
    await page.goto(program.url);
    await page.waitForFunction(() => document.querySelector('.tile.tone-completed')?.textContent.includes('1,000,000'));
  });

  // While tasks come and run: how soon one shows, and what holds up the page.
  await page.goto(`${program.url}/tasks`);
  await page.locator('table.tasks tbody tr').first().waitFor();
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ entryTypes: ['longtask'] });
  });
  await page.mouse.move(0, 0);  // rows under the pointer would stay where they are
  await program.worker('--concurrency', '2');
  await measure('a new task shows', async () => {
    const id = await program.submit('errand.echo');
    await page.locator(`tr[data-task="${id}"]`).waitFor();
  });
  for (let i = 0; i < 20; i += 1) {
    await program.submitMany(Array.from({ length: 50 }, (_, n) => ({ type: 'errand.echo', payload: { n } })));
    await page.mouse.wheel(0, i % 2 ? -600 : 600);
    await new Promise((done) => { setTimeout(done, 250); });
  }
  // The browser tells of what takes 50 ms or more.
  const longest = await page.evaluate(() => window.longest);
  print('longest the page is held up, scrolling while 1,000 tasks come and run', longest ? `${Math.round(longest)} ms` : 'less than 50 ms');
  print('elements in the page', `${await page.evaluate(() => document.querySelectorAll('*').length)}`);
} finally {
  await browser.close();
  await program.close();
}
