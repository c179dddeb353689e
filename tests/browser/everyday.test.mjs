// What an operator does all day.

import { assert, dashboardTest, waitForText } from './suite.mjs';

dashboardTest('submit, running, completed', { options: ['--worker', '--concurrency', '2'] }, async ({ page }) => {
  const tab = await page('/');
  await tab.getByRole('link', { name: 'Submit a task' }).click();
  await tab.getByLabel('Type').fill('errand.sleep');
  await tab.getByLabel('Payload, JSON').fill('{"ms": 3000}');
  await tab.getByRole('button', { name: 'Submit' }).click();
  await tab.waitForURL(/\/tasks\/[0-9a-f-]{36}$/);
  await waitForText(tab.locator('.page-head .status'), 'Running');
  await waitForText(tab.locator('.page-head .status'), 'Completed');
  await waitForText(tab.locator('.timeline'), 'Attempt 1 started');
  await tab.getByRole('heading', { name: 'Result' }).waitFor();
});

dashboardTest('a payload is sent as it was typed, and shown so', { options: ['--worker'] }, async ({ page, program }) => {
  const tab = await page('/submit');
  await tab.getByLabel('Type').fill('errand.echo');
  await tab.getByLabel('Payload, JSON').fill('{"id": 12345678901234567890, "x": 1.10}');
  await tab.getByRole('button', { name: 'Submit' }).click();
  await tab.waitForURL(/\/tasks\/[0-9a-f-]{36}$/);
  await waitForText(tab.locator('.page-head .status'), 'Completed');
  assert.equal(await tab.locator('.json-number').first().textContent(), '12345678901234567890');
  assert.equal(await tab.locator('.json-number').nth(1).textContent(), '1.10');
  const id = tab.url().split('/').pop();
  const { result } = await program.result(id);
  assert.ok(result.includes('12345678901234567890'));
  await tab.getByRole('link', { name: 'Submit a copy' }).click();
  await tab.waitForFunction(() => document.querySelector('textarea').value.includes('12345678901234567890'));
  assert.equal(await tab.getByLabel('Type').inputValue(), 'errand.echo');
});

dashboardTest('what is wrong with a payload is told before it is sent', {}, async ({ page, program }) => {
  const tab = await page('/submit');
  await tab.getByLabel('Type').fill('errand.echo');
  await tab.getByLabel('Payload, JSON').fill('{\n  "a": 1,\n  oops\n}');
  await tab.getByRole('button', { name: 'Submit' }).click();
  await waitForText(tab.locator('#payload-error'), 'line 3');
  await tab.getByLabel('Payload, JSON').fill('{}');
  await tab.getByText('More: delay, priority, retries').click();
  await tab.getByLabel('Queue').fill('later');
  await tab.getByLabel('Delay').fill('2h');
  await tab.getByRole('button', { name: 'Submit' }).click();
  await waitForText(tab.locator('.timeline'), 'Runs again');
  const { items } = await program.ask('GET', '/api/tasks');
  assert.equal(items.length, 1);
  assert.equal(items[0].queue, 'later');
});

dashboardTest('a refusal of the server is shown', {}, async ({ page }) => {
  const tab = await page('/submit');
  await tab.getByLabel('Type').fill('errand.echo');
  await tab.getByText('More: delay, priority, retries').click();
  await tab.getByLabel('Delay').fill('9999999999d');
  await tab.getByRole('button', { name: 'Submit' }).click();
  await waitForText(tab.locator('.form-error'), 'delay');
  assert.match(tab.url(), /\/submit$/);
});

dashboardTest('fail, retry', {}, async ({ page, program }) => {
  const id = await program.submit('errand.fail', { message: 'the printer is on fire' }, { maxRetries: 1, retryDelay: '10ms' });
  const worker = await program.worker();
  await program.result(id);
  await program.stop(worker);
  const tab = await page(`/tasks/${id}`);
  await waitForText(tab.locator('.page-head .status'), 'Failed');
  await waitForText(tab.locator('.error-panel .error-message'), 'the printer is on fire');
  await waitForText(tab.locator('.error-panel .error-class'), 'std::runtime_error');
  await waitForText(tab.locator('.timeline'), 'Attempt 1 failed');
  assert.equal(await tab.locator('.timeline').getByText('Attempt 2 failed').count(), 0, 'the last failure is told once');
  await tab.getByRole('button', { name: 'Retry' }).click();
  await waitForText(tab.locator('.page-head .status'), 'Pending');
  await program.worker();
  await waitForText(tab.locator('.page-head .status'), 'Failed');
});

dashboardTest('cancel, delete', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo');
  const tab = await page(`/tasks/${id}`);
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await waitForText(tab.locator('.page-head .status'), 'Cancelled');
  await tab.getByRole('button', { name: 'Delete' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await program.ask('GET', '/api/tasks')).total, 1);
  await tab.getByRole('button', { name: 'Delete' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await tab.waitForURL(/\/tasks$/);
  await tab.goto(`${program.url}/tasks/${id}`);
  await tab.getByText('There is no such task').waitFor();
});

dashboardTest('a running task is asked to stop', { options: ['--worker'] }, async ({ page, program }) => {
  const id = await program.submit('errand.sleep', { ms: 600_000 });
  const tab = await page(`/tasks/${id}`);
  await waitForText(tab.locator('.page-head .status'), 'Running');
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await waitForText(tab.locator('.page-head .status'), 'Cancelled');
});

dashboardTest('pause, resume, purge', { options: ['--worker', '--queue', 'mail'] }, async ({ page, program }) => {
  await program.ask('POST', '/api/queues/mail/pause');
  const id = await program.submit('errand.echo', { a: 1 }, { queue: 'mail' });
  const tab = await page('/queues');
  const row = tab.locator('tr[data-queue="mail"]');
  await waitForText(row, 'Paused');
  await row.getByRole('button', { name: 'Resume' }).click();
  assert.equal((await program.result(id)).status, 'completed');
  await tab.getByText('All queues are empty').waitFor();

  const sleeping = await program.submit('errand.sleep', { ms: 600_000 }, { queue: 'mail' });
  await row.getByRole('button', { name: 'Pause' }).click();
  await waitForText(row, 'Paused');
  await program.submit('errand.echo', {}, { queue: 'mail' });
  await row.getByRole('button', { name: 'Purge' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
  await waitForText(tab.locator('#notices'), '1 removed from mail');
  const { items } = await program.ask('GET', '/api/tasks?status=pending,running');
  assert.deepEqual(items.map((task) => task.taskId), [sleeping]);
});

dashboardTest('filter, reload', {}, async ({ page, program }) => {
  await program.submitMany([
    ...Array.from({ length: 5 }, () => ({ type: 'email.send', queue: 'mail' })),
    ...Array.from({ length: 4 }, () => ({ type: 'image.resize', queue: 'media' })),
  ]);
  const cancelled = await program.submit('image.resize', {}, { queue: 'media' });
  await program.ask('POST', `/api/tasks/${cancelled}/cancel`);
  const tab = await page('/tasks');
  const rows = tab.locator('table.tasks tbody tr');
  const shows = (count) => tab.waitForFunction((n) => document.querySelectorAll('table.tasks tbody tr').length === n, count);
  await shows(10);
  await tab.getByLabel('Type').fill('image.resize');
  await tab.getByLabel('Type').press('Enter');
  await shows(5);
  await tab.getByRole('button', { name: /^Cancelled/ }).click();
  await shows(1);
  assert.match(tab.url(), /\?status=cancelled&type=image\.resize$/);
  await tab.reload();
  await shows(1);
  assert.equal(await rows.first().getAttribute('data-task'), cancelled);
  assert.equal(await tab.getByLabel('Type').inputValue(), 'image.resize');
  assert.equal(await tab.getByRole('button', { name: /^Cancelled/ }).getAttribute('aria-pressed'), 'true');
  await tab.goBack();
  await shows(5);
  await tab.getByRole('button', { name: 'Clear filters' }).click();
  await shows(10);
  await tab.getByLabel('Queue').fill('no such queue');
  await tab.getByLabel('Queue').press('Enter');
  await tab.getByText('No task is like that').waitFor();
});

dashboardTest('an id leads to its task', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo');
  const tab = await page('/tasks');
  await tab.getByLabel('Go to id…').fill(id);
  await tab.getByLabel('Go to id…').press('Enter');
  await tab.waitForURL(`${program.url}/tasks/${id}`);
});
