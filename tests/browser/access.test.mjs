// Tokens, and what they allow.

import { assert, dashboardTest, waitForText } from './suite.mjs';

const TOKEN = 'operator-token-of-the-tests';
const READ_TOKEN = 'reader-token-of-the-tests';
const environment = { ERRAND_TOKEN: TOKEN, ERRAND_READ_TOKEN: READ_TOKEN };

dashboardTest('a token is asked for, kept for the tab, and in no address', { environment }, async ({ page, program }) => {
  const tab = await page('/queues');
  const addresses = [];
  tab.on('request', (request) => addresses.push(request.url()));
  await tab.getByRole('heading', { name: 'This server asks for a token' }).waitFor();
  await tab.getByLabel('Token').fill('a-wrong-token-of-the-tests');
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByText('The server does not know this token').waitFor();
  await tab.getByLabel('Token').fill(TOKEN);
  await tab.keyboard.press('Enter');
  await tab.getByText('All queues are empty').waitFor();
  await waitForText(tab.locator('.live'), 'Live');
  await tab.reload();
  await tab.getByText('All queues are empty').waitFor();
  assert.ok(addresses.length > 5);
  assert.ok(addresses.every((address) => !address.includes('token-of')));
  assert.equal(await tab.evaluate(() => Object.values(localStorage).join()), '');
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'This server asks for a token' }).waitFor();
  assert.equal(await tab.evaluate(() => sessionStorage.getItem('errand.token')), null);
  assert.equal(program.url.includes(TOKEN), false);
});

dashboardTest('a reader looks and cannot change', { environment }, async ({ page, program }) => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const { taskId } = await program.ask('POST', '/api/tasks', { type: 'errand.echo' }, headers);
  const tab = await page(`/tasks/${taskId}`);
  await tab.getByLabel('Token').fill(READ_TOKEN);
  await tab.keyboard.press('Enter');
  await waitForText(tab.locator('.page-head .status'), 'Pending');
  await tab.getByText('Read only').waitFor();
  assert.equal(await tab.getByRole('button', { name: 'Cancel' }).count(), 0);
  assert.equal(await tab.getByRole('link', { name: 'Submit a task' }).count(), 0);
  await tab.goto(`${program.url}/queues`);
  await tab.locator('tr[data-queue="default"]').waitFor();
  assert.equal(await tab.getByRole('button', { name: 'Pause' }).count(), 0);
});

dashboardTest('no token is asked for where none is needed', {}, async ({ page }) => {
  const tab = await page('/no/such/page');
  await tab.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  assert.equal(await tab.getByRole('button', { name: 'Sign out' }).count(), 0);
});
