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
  await tab.getByText('All queues are empty').waitFor();
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
  await tab.getByRole('button', { name: '1 h', exact: true }).click();
  await tab.waitForURL(/range=1h/);
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
