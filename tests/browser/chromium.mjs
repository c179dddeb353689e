// A real Chromium. playwright-core is in ERRAND_BROWSER_MODULES, below the build directory.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.ERRAND_BROWSER_MODULES, 'index.js'));
const { chromium } = require('playwright-core');

export function startChromium() {
  return chromium.launch({
    executablePath: process.env.ERRAND_CHROMIUM ?? '/usr/bin/chromium',
    // Its sandbox does not work for root or in most containers; the pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
  });
}

/** A page that fails the test if anything goes wrong in it: see `troubles`. */
export async function openPage(browser, { locale = 'en-US', colorScheme = 'light', width = 1280, height = 800 } = {}) {
  const context = await browser.newContext({ locale, colorScheme, viewport: { width, height }, timezoneId: 'UTC', reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.troubles = [];
  page.on('pageerror', (error) => page.troubles.push(`error: ${error.stack ?? error}`));
  page.on('console', (message) => {
    // The browser itself reports every answer that is not 2xx; the tests provoke some.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) page.troubles.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    page.troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return page;
}
