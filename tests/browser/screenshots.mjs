// Makes the pictures of docs/images: node screenshots.mjs DIRECTORY. A shop at work is behind them.

import { join } from 'node:path';
import { openPage, startChromium } from './chromium.mjs';
import { addIncidents, openShop, runShop } from './shop.mjs';

/** So that the charts have something to show. */
const WARM_UP = Number(process.env.WARM_UP_SECONDS ?? 270) * 1000;

const [directory] = process.argv.slice(2);
const shop = await openShop();
const browser = await startChromium();
let stopped = false;
const running = runShop(shop, () => stopped);
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

async function picture(name, path, { ready, height = 800, ...settings }) {
  const page = await openPage(browser, { ...settings, height });
  await page.goto(shop.url + path);
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState('load');
  await pause(1500);  // until numbers, charts and workers are all there
  await page.screenshot({ path: join(directory, `${name}.png`) });
  if (page.troubles.length) throw new Error(page.troubles.join('\n'));
  await page.context().close();
}

try {
  await pause(WARM_UP);
  const failed = await addIncidents(shop);
  const dark = { colorScheme: 'dark' };
  const chinese = { locale: 'zh-CN' };
  await pause(3000);
  await picture('overview-light-en', '/', { ready: '.worker', height: 1120 });
  await picture('overview-dark-zh', '/', { ready: '.worker', height: 1120, ...dark, ...chinese });
  await picture('tasks-light-zh', '/tasks', { ready: '.tasks tbody tr', ...chinese });
  await picture('tasks-dark-en', '/tasks?status=running,retrying,failed', { ready: '.tasks tbody tr', ...dark });
  await picture('task-light-en', `/tasks/${failed}`, { ready: '.timeline', height: 1120 });
  await picture('failed-dark-en', '/failed', { ready: '.failures', ...dark });
  await picture('queues-light-en', '/queues', { ready: '.queues tbody tr', height: 460 });
  await picture('workers-dark-zh', '/workers', { ready: '.worker', height: 460, ...dark, ...chinese });
  await picture('submit-light-en', `/submit?from=${failed}`, { ready: '.submit-form', height: 720 });
} finally {
  stopped = true;
  await running;
  await browser.close();
  await shop.close();
}
