// Changes come by themselves, also after the server was away; long lists are paged.

import { assert, dashboardTest, waitForText } from './suite.mjs';

dashboardTest('the list follows what happens', {}, async ({ page, program }) => {
  const tab = await page('/tasks');
  await tab.getByText('No tasks yet').waitFor();
  const id = await program.submit('errand.sleep', { ms: 1500 });
  const row = tab.locator(`tr[data-task="${id}"]`);
  await waitForText(row, 'Pending');
  await program.worker();
  await waitForText(row, 'Running');
  await waitForText(row, 'Completed');
});

dashboardTest('rows do not move under the pointer', {}, async ({ page, program }) => {
  await program.submit('errand.echo', {}, { queue: 'first' });
  const tab = await page('/tasks');
  const rows = tab.locator('table.tasks tbody tr');
  await rows.first().hover();
  await program.submit('errand.echo', {}, { queue: 'second' });
  const news = tab.getByRole('button', { name: 'There is news' });
  await news.waitFor();
  await waitForText(rows.first(), 'first');
  await news.click();
  await waitForText(rows.first(), 'second');
});

dashboardTest('overview: counts, charts, queues, workers', { options: ['--worker', '--concurrency', '3'] }, async ({ page, program }) => {
  const tab = await page('/');
  await waitForText(tab.locator('tr[data-queue="default"]'), '0');
  await program.submit('errand.sleep', { ms: 600_000 });
  await program.submitMany(Array.from({ length: 30 }, () => ({ type: 'errand.echo', payload: {} })));
  await waitForText(tab.locator('.tile.tone-completed'), '30');
  await waitForText(tab.locator('.tile.tone-running'), '1');
  await waitForText(tab.locator('.worker'), '1 / 3');
  await waitForText(tab.locator('.worker-tasks'), 'errand.sleep');
  await waitForText(tab.locator('tr[data-queue="default"]'), '1');
  await tab.locator('.chart').first().locator('path.chart-line').first().waitFor();
  const picture = tab.locator('.chart-picture').first();
  await picture.focus();
  await picture.press('ArrowLeft');
  await tab.waitForFunction(() => document.querySelector('.chart-when').textContent !== '');
  for (const [name, range] of [['1 h', /range=1h/], ['24 h', /range=24h/], ['5 min', /\/$/]]) {
    await tab.getByRole('button', { name, exact: true }).click();
    await tab.waitForURL(range);
    await tab.locator('.chart-tick').nth(2).waitFor();
    assert.equal(await tab.locator('.error-state').count(), 0, name);
  }
});

dashboardTest('charts say that there is nothing, and no numbers of it', {}, async ({ page }) => {
  const tab = await page('/', { width: 390 });
  await tab.locator('.chart-empty').nth(3).waitFor();
  const ticks = await tab.locator('.chart').first().locator('.chart-tick').allTextContents();
  // Five minutes hold two or three even minutes.
  assert.ok(ticks.length >= 2 && ticks.every((text) => /^\d\d:\d\d$/.test(text)), ticks.join());
});

dashboardTest('rows under the pointer follow although their changes were too many to be told', {}, async ({ page, program }) => {
  await program.submitMany(Array.from({ length: 450 }, () => ({ type: 'errand.echo' })));
  const tab = await page('/tasks?page=9');
  const row = tab.locator('table.tasks tbody tr').nth(3);
  await waitForText(row, 'Pending');
  await row.hover();
  const id = await row.getAttribute('data-task');
  program.errand('worker', '--drain');
  await waitForText(tab.locator(`tr[data-task="${id}"]`), 'Completed');
});

dashboardTest('a task that another program deletes leaves the list', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo');
  const kept = await program.submit('errand.echo');
  program.errand('worker', '--drain');
  const tab = await page('/tasks');
  const row = tab.locator(`tr[data-task="${id}"]`);
  await waitForText(row, 'Completed');
  await tab.locator(`tr[data-task="${kept}"]`).hover();
  program.sql(`delete from async_tasks where task_id = '${id}'`);
  await tab.locator(`tr.gone[data-task="${id}"]`).waitFor();
  await tab.mouse.move(0, 0);
  await row.waitFor({ state: 'detached' });
});

dashboardTest('a task that is deleted before the page hears of changes leaves the list, too', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo');
  const kept = await program.submit('errand.echo');
  const tab = await page('/submit');
  let listen;
  const deaf = new Promise((resolve) => { listen = resolve; });
  await tab.route('**/api/events?*', async (route) => {
    await deaf;
    await route.continue();
  });
  await tab.getByRole('link', { name: 'Tasks' }).click();
  await tab.locator(`tr[data-task="${id}"]`).waitFor();
  await tab.locator(`tr[data-task="${kept}"]`).hover();
  program.sql(`delete from async_tasks where task_id = '${id}'`);
  listen();
  await tab.locator(`tr.gone[data-task="${id}"]`).waitFor();
  await tab.locator(`tr[data-task="${kept}"]:not(.gone)`).waitFor();
  await tab.mouse.move(0, 0);
  await tab.locator(`tr[data-task="${id}"]`).waitFor({ state: 'detached' });
});

dashboardTest('the focus stays where it is while rows come and go', {}, async ({ page, program }) => {
  const focused = (tab) => tab.evaluate(() => document.activeElement.closest('tr')?.dataset.queue ?? document.activeElement.textContent);
  await program.submit('errand.echo', {}, { queue: 'm' });
  const queues = await page('/queues');
  await queues.locator('tr[data-queue=m]').getByRole('button', { name: 'Pause' }).focus();
  await program.submit('errand.echo', {}, { queue: 'a' });
  await program.submit('errand.echo', {}, { queue: 'z' });
  await queues.locator('tr[data-queue=z]').waitFor();
  assert.equal(await focused(queues), 'm');

  await program.submitMany([1, 2].map((n) => ({ type: 'errand.fail', payload: { message: `no. ${n}` }, maxRetries: 0 })));
  program.errand('worker', '--drain');
  const failed = await page('/failed');
  await waitForText(failed.locator('.selection'), '2 failed tasks');
  await failed.getByRole('button', { name: 'Retry all' }).focus();
  await program.submit('errand.fail', { message: 'another' }, { maxRetries: 0 });
  program.errand('worker', '--drain');
  await waitForText(failed.locator('.selection'), '3 failed tasks');
  assert.equal(await focused(failed), 'Retry all');

  const ids = await program.submitMany(Array.from({ length: 3 }, () => ({ type: 'errand.echo', queue: 'later' })));
  const tasks = await page('/tasks?status=pending&queue=later');
  await tasks.locator(`tr[data-task="${ids[1]}"] a`).focus();
  await program.ask('POST', `/api/tasks/${ids[2]}/cancel`);
  await tasks.getByRole('button', { name: 'There is news' }).click();
  await tasks.locator(`tr[data-task="${ids[2]}"]`).waitFor({ state: 'detached' });
  await tasks.locator(`tr[data-task="${ids[1]}"] a`).focus();
  await tasks.keyboard.press('ArrowDown');
  assert.equal(await tasks.evaluate(() => document.activeElement.closest('tr').dataset.task), ids[0]);
});

dashboardTest('the page finds back to a server that was away', {}, async ({ page, program }) => {
  const tab = await page('/tasks');
  await waitForText(tab.locator('.live'), 'Live');
  const { port } = new URL(program.url);
  program.server.removeAllListeners('exit');
  await program.stop(program.server, 'SIGKILL');
  await waitForText(tab.locator('.live'), 'Connecting…');
  program.errand('submit', 'errand.echo', '{"while":"away"}');
  await program.serve([], port);
  await waitForText(tab.locator('.live'), 'Live');
  await waitForText(tab.locator('table.tasks tbody tr'), 'errand.echo');
});

dashboardTest('pages of a long list, by cursor, there and back', {}, async ({ page, program }) => {
  const ids = await program.submitMany(Array.from({ length: 180 }, (_, n) => ({ type: 'errand.echo', payload: { n }, queue: `q${n % 2}` })));
  const newest = ids.reverse();
  const tab = await page('/tasks');
  const first = tab.locator('table.tasks tbody tr').first();
  const at = async (n) => {
    await tab.waitForFunction((id) => document.querySelector('table.tasks tbody tr')?.dataset.task === id, newest[n]);
    assert.equal(await tab.locator('table.tasks tbody tr').count(), Math.min(50, 180 - n));
  };
  await at(0);
  await waitForText(tab.locator('.pager'), 'page 1 of 4');
  for (const n of [50, 100, 150]) {
    await tab.getByRole('link', { name: 'Older' }).click();
    await at(n);
  }
  assert.equal(await tab.getByRole('link', { name: 'Older' }).count(), 0);
  assert.match(tab.url(), /cursor=/);
  await tab.reload();
  await at(150);
  await tab.getByRole('link', { name: 'Newer' }).click();
  await at(100);
  await tab.getByRole('link', { name: 'Newer' }).click();
  await at(50);
  await tab.getByRole('link', { name: 'Newest' }).click();
  await at(0);
  await first.locator('a').focus();
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await tab.waitForURL(`${program.url}/tasks/${newest[1]}`);
  await tab.goto(`${program.url}/tasks?page=3`);
  await at(100);
});

dashboardTest('a page that was asked for comes, whatever is told meanwhile', {}, async ({ page, program }) => {
  const newest = (await program.submitMany(Array.from({ length: 60 }, () => ({ type: 'errand.echo' })))).reverse();
  const tab = await page('/tasks');
  await waitForText(tab.locator('.live'), 'Live');
  await tab.locator(`tr[data-task="${newest[0]}"]`).waitFor();
  let answer;
  const held = new Promise((resolve) => { answer = resolve; });
  let asked = 0;
  await tab.route('**/api/tasks?*cursor=*', async (route) => {
    if (++asked === 1) await held;
    await route.continue();
  });
  await tab.getByRole('link', { name: 'Older' }).click();
  await tab.locator(`tr[data-task="${newest[1]}"]`).hover();
  const told = tab.waitForResponse((response) => response.url().includes('cursor='));
  program.sql(`delete from async_tasks where task_id = '${newest[55]}'`);
  await told;
  answer();
  await tab.locator(`tr[data-task="${newest[50]}"]`).waitFor();
  assert.equal(await tab.locator('table.tasks tbody tr').count(), 9);
});
