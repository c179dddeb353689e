// The page of failures, where messages of transports failed.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dashboardTest, LOOKS, waitForText } from './suite.mjs';

const MESSAGE = 'errand.fail';

/** `send(text)` makes a message fail with that text. */
function failing(program) {
  const transport = (name) => ({ dsn: `sqlite:${join(program.directory, 'messages.db')}?queue_name=${name}`, retry_strategy: { max_retries: 0 } });
  writeFileSync(join(program.directory, 'errand.json'), JSON.stringify({
    transports: { async: transport('async'), failed: transport('failed') }, failure_transport: 'failed',
  }));
  return (text) => program.errand('send', MESSAGE, JSON.stringify({ message: text }), '--transport', 'async');
}

for (const { name, settings, say } of LOOKS) {
  dashboardTest(`failed messages are listed, opened, sent again and removed: ${name}`, { before: failing }, async ({ page, program, prepared: send }) => {
    for (const text of ['no. 1 is gone', 'no. 2 is gone', 'the disk is full']) send(text);
    program.errand('worker', '--transport', 'async', '--drain');
    const tab = await page('/failed', settings);
    await tab.getByText(say('failed.empty')).waitFor();
    await tab.getByRole('link', { name: `${say('messages.of')} failed` }).click();
    await tab.waitForURL(/kind=message&transport=failed/);
    await waitForText(tab.locator('.selection'), say('messages.total', { n: 3 }));
    const groups = tab.locator('table.groups tbody tr');
    await waitForText(groups.nth(0).locator('.count-cell'), '2');

    const row = tab.locator('table.failures tbody tr').filter({ hasText: 'the disk is full' });
    await row.locator('summary').first().click();
    await waitForText(row.locator('.error-class'), 'std::runtime_error');
    await waitForText(row.locator('.json'), 'the disk is full');

    await groups.nth(1).getByRole('button', { name: say('failed.remove') }).click();
    await tab.getByRole('dialog').getByRole('button', { name: say('failed.remove') }).click();
    await waitForText(tab.locator('#notices'), say('messages.done.remove', { n: 1 }));
    await tab.locator('.selection').getByRole('button', { name: say('failed.all.retry') }).click();
    await tab.getByRole('dialog').getByRole('button', { name: say('failed.retry') }).click();
    await waitForText(tab.locator('#notices'), say('messages.done.retry', { n: 2 }));
    await tab.getByText(say('messages.empty')).waitFor();
    assert.match(program.errand('transport', 'stats', '--json'), /"async"/);
  });
}

dashboardTest('where there is no transport for failures there is no tab', {}, async ({ page }) => {
  const tab = await page('/failed');
  await tab.getByText('Nothing has failed').waitFor();
  assert.equal(await tab.locator('nav.segments').isVisible(), false);
});
