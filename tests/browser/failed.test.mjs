// The page of failures.

import { assert, dashboardTest, waitForText } from './suite.mjs';
import { quoted } from './program.mjs';

async function failures(program) {
  await program.submitMany([
    ...Array.from({ length: 6 }, (_, n) => ({ type: 'errand.fail', payload: { message: `order ${n} is gone` }, maxRetries: 0 })),
    ...Array.from({ length: 3 }, () => ({ type: 'errand.fail', payload: { message: 'the disk is full' }, maxRetries: 0 })),
  ]);
  program.errand('worker', '--drain');
}

const failedCount = async (program) => (await program.ask('GET', '/api/stats')).tasks.failed;

dashboardTest('errors are grouped, and a group is retried or removed', {}, async ({ page, program }) => {
  await failures(program);
  const tab = await page('/failed');
  const groups = tab.locator('table.groups tbody tr');
  await waitForText(groups.nth(0), 'is gone');
  await waitForText(groups.nth(0).locator('.count-cell'), '6');
  await groups.nth(1).getByRole('button', { name: 'Remove' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await waitForText(tab.locator('#notices'), '3 tasks removed');
  assert.equal(await failedCount(program), 6);
  await groups.nth(0).getByRole('link').click();
  await waitForText(tab.locator('.active-filters'), 'order # is gone');
  await waitForText(tab.locator('.selection'), '6 failed tasks match');
  await tab.locator('.selection').getByRole('button', { name: 'Retry' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
  await waitForText(tab.locator('#notices'), '6 tasks wait for a worker again');
  await tab.getByText('No failed task is like that any more').waitFor();
  assert.equal(await failedCount(program), 0);
});

dashboardTest('some are selected, retried, and run', {}, async ({ page, program }) => {
  await failures(program);
  const tab = await page('/failed');
  const boxes = tab.locator('table.failures tbody input');
  await boxes.nth(0).check();
  await boxes.nth(2).check();
  await waitForText(tab.locator('.selection'), '2 selected');
  await tab.locator('.selection').getByRole('button', { name: 'Retry' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
  await waitForText(tab.locator('#notices'), '2 tasks wait');
  await waitForText(tab.locator('.selection'), '7 failed tasks');
  await tab.getByLabel('Select all on this page').check();
  await waitForText(tab.locator('.selection'), '7 selected');
  await tab.locator('.selection').getByRole('button', { name: 'Remove' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await tab.getByText('Nothing has failed').waitFor();
  const { tasks } = await program.ask('GET', '/api/stats');
  assert.deepEqual([tasks.failed, tasks.pending], [0, 2]);
});

dashboardTest('many kinds of errors: the most frequent first, the others on request', {}, async ({ page, program }) => {
  const words = ['mail', 'disk', 'clock', 'printer', 'gate', 'lamp', 'door', 'well', 'mill', 'road', 'bridge', 'ship'];
  await program.submitMany(words.flatMap((word, i) => Array.from({ length: i + 1 }, () => ({
    type: 'errand.fail', payload: { message: `the ${word} ${'is very broken '.repeat(12)}` }, maxRetries: 0,
  }))));
  program.errand('worker', '--drain');
  const tab = await page('/failed');
  const groups = tab.locator('table.groups tbody tr');
  await waitForText(groups.nth(0), 'the ship');
  assert.equal(await groups.count(), 10);
  await groups.nth(0).getByRole('button', { name: 'whole text' }).click();
  await waitForText(groups.nth(0).locator('.group-whole'), 'is very broken is very broken');
  await tab.getByRole('button', { name: 'Show 2 more' }).click();
  assert.equal(await groups.count(), 12);
  await groups.nth(11).getByRole('button', { name: 'Remove' }).click();
  await waitForText(tab.getByRole('dialog'), 'Remove 1 task?');
});

dashboardTest('stack, code and causes of an error', {}, async ({ page, program }) => {
  const [id] = await program.submitMany([{ type: 'errand.fail', payload: {}, maxRetries: 0 }]);
  program.errand('worker', '--drain');
  const error = {
    class: 'Outer', message: 'first\nsecond line', code: 42, file: 'src/a.cpp', line: 7, trace: '#0 f at a.cpp:7\n#1 main at main.cpp:1',
    previous: { class: 'Inner', message: 'the cause', trace: '#0 g at b.cpp:9', previous: null },
  };
  program.sql(`update async_tasks set error = ${quoted(JSON.stringify(error))}`);
  const tab = await page(`/tasks/${id}`);
  const panel = tab.locator('.error-panel');
  for (const text of ['Outer', 'code 42', 'second line', 'src/a.cpp:7', '#1 main at main.cpp:1', 'caused by', 'Inner', 'the cause']) {
    await waitForText(panel, text);
  }
  await panel.getByText('Stack, one frame').click();
  await panel.getByText('#0 g at b.cpp:9').waitFor();
});

dashboardTest('an error that is no error object is shown as it is', {}, async ({ page, program }) => {
  const [id] = await program.submitMany([{ type: 'errand.fail', payload: {}, maxRetries: 0 }]);
  program.errand('worker', '--drain');
  program.sql("update async_tasks set error = 'Segfault, core dumped', payload = 'O:8:\"stdClass\":0:{}'");
  const tab = await page(`/tasks/${id}`);
  await tab.getByText('Segfault, core dumped').waitFor();
  await tab.getByText('not JSON').first().waitFor();
  await page('/failed');
});
