// One browser for all tests of a file, one storage for each.

import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { openPage, startChromium } from './chromium.mjs';
import { Program } from './program.mjs';
import { webModule } from './web_module.mjs';

let browser;
beforeAll(async () => { browser = await startChromium(); });
after(async () => { await browser.close(); });

/**
 * body({program, prepared, page(options)}): `prepared` is what `before` gave, which is called with the program before it
 * serves; `page` opens the dashboard's page at a path. Nothing may have gone
 * wrong in any page at the end.
 */
export function dashboardTest(name, { environment, options = [], before = () => null }, body) {
  test(name, { timeout: 540_000 }, async () => {
    const program = new Program(environment);
    const pages = [];
    try {
      const prepared = await before(program);
      await program.serve(options);
      await body({
        program,
        prepared,
        async page(path, settings) {
          const page = await openPage(browser, settings);
          pages.push(page);
          await page.goto(program.url + path);
          return page;
        },
      });
      for (const page of pages) assert.deepEqual(page.troubles, []);
    } finally {
      for (const page of pages) await page.context().close();
      await program.close();
    }
  });
}

/** Waits until the locator's text contains `text`. */
export async function waitForText(locator, text) {
  await locator.filter({ hasText: text }).first().waitFor();
}

/** The page is as wide as its window: nothing sticks out. */
export async function assertNoOverflow(page, where = '') {
  const { content, window, widest } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const sticksOut = (node) => node.getBoundingClientRect().right > clientWidth;
    const isClipped = (node) => node && node !== document.body && (getComputedStyle(node).overflowX !== 'visible' || isClipped(node.parentElement));
    const found = scrollWidth > clientWidth ? [...document.querySelectorAll('body *')].filter((node) => sticksOut(node) && !isClipped(node.parentElement)) : [];
    return { content: scrollWidth, window: clientWidth, widest: found.slice(0, 5).map((node) => `${node.tagName}.${node.getAttribute('class')}`) };
  });
  assert.ok(content <= window, `${where}: the page is ${content} wide in a window of ${window}: ${widest}`);
}

const TEXTS = { 'en-US': (await webModule('locales/en.js')).default, 'zh-CN': (await webModule('locales/zh.js')).default };

/** Both languages and both themes: {name, settings, say(text, parts)}. `say` is what the page says in that language. */
export const LOOKS = [['en-US', 'light'], ['zh-CN', 'dark']].map(([locale, colorScheme]) => ({
  name: `${locale}, ${colorScheme}`,
  settings: { locale, colorScheme },
  say(text, parts = {}) {
    const found = TEXTS[locale][text];
    const words = typeof found === 'function' ? found(parts) : found;
    return words.replace(/\{(\w+)\}/g, (_, part) => parts[part]);
  },
}));

export { assert };
