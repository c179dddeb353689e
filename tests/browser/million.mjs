// node million.mjs: how the list of tasks feels with a million of them. Prints milliseconds.

import { openPage, startChromium } from './chromium.mjs';
import { Program } from './program.mjs';

const program = new Program();
const browser = await startChromium();
try {
  program.errand('setup');
  program.sql(`insert into async_tasks (task_id, status, submitted_at, started_at, completed_at, version, queue_name, type, available_at, attempts, result, payload)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < 999999)
    select printf('%08x-0000-4000-8000-000000000000', i), 'completed', t, t, t, 2, 'q' || (i % 4), 'type.' || (i % 7), t, 1, '{}', '{}'
    from (select i, strftime('%Y-%m-%d %H:%M:%f000', 'now', '-' || ((1000000 - i) / 20) || ' seconds') as t from n);`);
  await program.serve();
  const page = await openPage(browser);
  const measure = async (name, action) => {
    const began = performance.now();
    await action();
    console.log(`${name.padEnd(28)} ${Math.round(performance.now() - began)}`);
  };
  const first = () => page.evaluate(() => document.querySelector('table.tasks tbody tr')?.dataset.task);
  const changed = (before) => page.waitForFunction((id) => {
    const now = document.querySelector('table.tasks tbody tr')?.dataset.task;
    return now && now !== id;
  }, before, { polling: 5 });

  await measure('first page', async () => {
    await page.goto(`${program.url}/tasks`);
    await page.locator('table.tasks tbody tr').first().waitFor();
  });
  for (const n of [2, 3, 4, 5]) {
    const before = await first();
    await measure(`page ${n}, by cursor`, async () => {
      await page.getByRole('link', { name: 'Older' }).click();
      await changed(before);
    });
  }
  await measure('filter by status', async () => {
    const before = await first();
    await page.getByRole('button', { name: /^Completed/ }).click();
    await changed(before);
  });
  await measure('overview', async () => {
    await page.goto(program.url);
    await page.waitForFunction(() => document.querySelector('.tile.tone-completed')?.textContent.includes('1,000,000'));
  });
  const task = '00000007-0000-4000-8000-000000000000';
  await measure('the oldest task but seven', async () => {
    await page.goto(`${program.url}/tasks/${task}`);
    await page.locator('.timeline').waitFor();
  });
} finally {
  await browser.close();
  await program.close();
}
