// What an operator does all day.

import { assert, dashboardTest, LOOKS, waitForText } from './suite.mjs';

for (const { name, settings, say } of LOOKS) {
  dashboardTest(`submit, running, completed: ${name}`, { options: ['--worker', '--concurrency', '2'] }, async ({ page }) => {
    const tab = await page('/', settings);
    await tab.getByRole('link', { name: say('nav.submit') }).click();
    await tab.getByLabel(say('submit.type')).fill('errand.sleep');
    await tab.getByLabel(say('submit.payload')).fill('{"ms": 3000}');
    await tab.getByRole('button', { name: say('submit.send'), exact: true }).click();
    await tab.waitForURL(/\/tasks\/[0-9a-f-]{36}$/);
    await waitForText(tab.locator('.page-head .status'), say('status.running'));
    await waitForText(tab.locator('.page-head .status'), say('status.completed'));
    await waitForText(tab.locator('.timeline'), say('timeline.started', { n: 1 }));
    await tab.getByRole('heading', { name: say('task.result') }).waitFor();
  });

  dashboardTest(`fail, retry: ${name}`, {}, async ({ page, program }) => {
    const id = await program.submit('errand.fail', { message: 'the printer is on fire' }, { maxRetries: 1, retryDelay: '10ms' });
    const worker = await program.worker();
    await program.result(id);
    await program.stop(worker);
    const tab = await page(`/tasks/${id}`, settings);
    await waitForText(tab.locator('.page-head .status'), say('status.failed'));
    await waitForText(tab.locator('.error-panel .error-message'), 'the printer is on fire');
    await waitForText(tab.locator('.error-panel .error-class'), 'std::runtime_error');
    await waitForText(tab.locator('.timeline'), say('timeline.attemptFailed', { n: 1 }));
    assert.equal(await tab.locator('.timeline').getByText(say('timeline.attemptFailed', { n: 2 })).count(), 0, 'the last failure is told once');
    await tab.getByRole('button', { name: say('task.retry') }).click();
    await waitForText(tab.locator('.page-head .status'), say('status.pending'));
    await waitForText(tab.locator('.timeline'), say('timeline.unserved'));
    await program.worker();
    await waitForText(tab.locator('.page-head .status'), say('status.failed'));
  });

  dashboardTest(`pause, resume, purge: ${name}`, { options: ['--worker', '--queue', 'mail'] }, async ({ page, program }) => {
    await program.ask('POST', '/api/queues/mail/pause');
    const id = await program.submit('errand.echo', { a: 1 }, { queue: 'mail' });
    const tab = await page('/queues', settings);
    const row = tab.locator('tr[data-queue="mail"]');
    await waitForText(row, say('queue.paused'));
    await row.getByRole('button', { name: say('queue.resume') }).click();
    assert.equal((await program.result(id)).status, 'completed');
    // Nothing waits there; it stays, because a worker serves it.
    const sleeping = await program.submit('errand.sleep', { ms: 600_000 }, { queue: 'mail' });
    await row.getByRole('button', { name: say('queue.pause') }).click();
    await waitForText(row, say('queue.paused'));
    await program.submit('errand.echo', {}, { queue: 'mail' });
    await row.getByRole('button', { name: say('queue.purge') }).click();
    await tab.getByRole('dialog').getByRole('button', { name: say('queue.purge') }).click();
    await waitForText(tab.locator('#notices'), say('queue.done.purge', { n: 1, queue: 'mail' }));
    const { items } = await program.ask('GET', '/api/tasks?status=pending,running');
    assert.deepEqual(items.map((task) => task.taskId), [sleeping]);
  });

  dashboardTest(`filter, reload: ${name}`, {}, async ({ page, program }) => {
    await program.submitMany([
      ...Array.from({ length: 5 }, () => ({ type: 'email.send', queue: 'mail' })),
      ...Array.from({ length: 4 }, () => ({ type: 'image.resize', queue: 'media' })),
    ]);
    const cancelled = await program.submit('image.resize', {}, { queue: 'media' });
    await program.ask('POST', `/api/tasks/${cancelled}/cancel`);
    const tab = await page('/tasks', settings);
    const rows = tab.locator('table.tasks tbody tr');
    const shows = (count) => tab.waitForFunction((n) => document.querySelectorAll('table.tasks tbody tr').length === n, count);
    const type = tab.getByLabel(say('filter.type'));
    const chip = tab.locator('.chip[data-status=cancelled]');
    await shows(10);
    await type.fill('image.resize');
    await type.press('Enter');
    await shows(5);
    await waitForText(chip, say('status.cancelled'));
    await chip.click();
    await shows(1);
    assert.match(tab.url(), /\?status=cancelled&type=image\.resize$/);
    await tab.reload();
    await shows(1);
    assert.equal(await rows.first().getAttribute('data-task'), cancelled);
    assert.equal(await type.inputValue(), 'image.resize');
    assert.equal(await chip.getAttribute('aria-pressed'), 'true');
    await tab.goBack();
    await shows(5);
    await tab.getByRole('button', { name: say('filter.clear') }).click();
    await shows(10);
    await tab.getByLabel(say('filter.queue')).fill('no such queue');
    await tab.getByLabel(say('filter.queue')).press('Enter');
    await tab.getByText(say('tasks.noneFound')).waitFor();
  });
}

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
  await waitForText(tab.locator('.timeline'), 'Runs in 1 h 59 min');
  await waitForText(tab.locator('.timeline'), 'No worker serves this queue');
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

dashboardTest('an id leads to its task', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo');
  const tab = await page('/tasks');
  await tab.getByLabel('Go to id…').fill(id);
  await tab.getByLabel('Go to id…').press('Enter');
  await tab.waitForURL(`${program.url}/tasks/${id}`);
});

dashboardTest('a click on Submit counts although the payload is left at that moment', {}, async ({ page }) => {
  const tab = await page('/submit');
  await tab.getByLabel('Type').fill('errand.echo');
  const send = tab.getByRole('button', { name: 'Submit' });
  const before = await send.boundingBox();
  await tab.getByLabel('Payload, JSON').fill('{"a": nothing}');
  await send.click();
  await waitForText(tab.locator('#payload-error'), 'line 1, column 7');
  assert.deepEqual(await send.boundingBox(), before, 'the button does not move away');
});

dashboardTest('a task that waits for its time says until when, a queue without a worker says so', { options: ['--worker'] }, async ({ page, program }) => {
  const id = await program.submit('errand.echo', {}, { queue: 'nobody', delay: '2h' });
  const tab = await page('/tasks');
  await waitForText(tab.locator(`tr[data-task="${id}"]`), 'in 1 h 59 min');
  await tab.goto(`${program.url}/queues`);
  await waitForText(tab.locator('tr[data-queue="nobody"]'), 'No worker');
  const served = tab.locator('tr[data-queue="default"]');
  await served.getByRole('button', { name: 'Pause' }).click();
  await waitForText(served, 'Paused');
  assert.equal(await served.getByText('No worker').isVisible(), false);
});
