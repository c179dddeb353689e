// For keyboards, screen readers, narrow windows and long lists.

import { assert, assertNoOverflow, dashboardTest, waitForText } from './suite.mjs';

const PATHS = ['/', '/tasks', '/failed', '/queues', '/workers', '/submit', '/nowhere'];

async function someWork(program) {
  await program.submitMany([
    ...Array.from({ length: 3 }, (_, n) => ({ type: 'errand.fail', payload: { message: `no. ${n}` }, maxRetries: 0 })),
    ...Array.from({ length: 3 }, () => ({ type: 'errand.echo', payload: { a: [1, { b: null }] } })),
  ]);
  program.errand('worker', '--drain');
  return program.submit('errand.echo', { waits: true });
}

dashboardTest('no page is wider than its window, from telephone to wide screen', {}, async ({ page, program }) => {
  const id = await someWork(program);
  for (const width of [360, 768, 1024, 1280, 1920]) {
    const tab = await page('/', { width });
    for (const path of [...PATHS, `/tasks/${id}`]) {
      await tab.goto(program.url + path);
      await tab.locator('h1').waitFor();
      await assertNoOverflow(tab, `${path} at ${width}`);
    }
  }
});

dashboardTest('on a telephone one sees what a row is about, and can act', {}, async ({ page, program }) => {
  await someWork(program);
  for (const locale of ['en-US', 'zh-CN']) {
    const tab = await page('/tasks', { width: 390, height: 844, locale });
    const inside = async (locator) => {
      await locator.first().waitFor();
      const { x, width } = await locator.first().boundingBox();
      assert.ok(x >= 0 && x + width <= 390 && width > 30, `${locator} is at ${x}, ${width} wide`);
      return width;
    };
    const type = tab.locator('table.tasks .row-link .foreign');
    assert.ok(await inside(type) >= 70, 'the type can be read');
    assert.equal(await type.first().evaluate((node) => node.scrollWidth <= node.clientWidth), true);
    await inside(tab.locator('#header [data-page=workers]'));
    const { height } = await tab.locator('.bar').boundingBox();
    assert.ok(height <= 100, `the header is ${height} high`);
    await tab.goto(`${program.url}/queues`);
    await inside(tab.locator('td.actions button').last());
    await tab.goto(`${program.url}/failed`);
    await inside(tab.locator('.groups td.actions button').last());
    await inside(tab.locator('.selection button').last());
  }
});

dashboardTest('every control has a name, every page a heading and a title', {}, async ({ page, program }) => {
  const id = await someWork(program);
  const tab = await page('/');
  for (const path of [...PATHS, `/tasks/${id}`]) {
    await tab.goto(program.url + path);
    await tab.locator('h1').waitFor();
    await tab.waitForLoadState('load');
    const nameless = await tab.evaluate(() => [...document.querySelectorAll('button, a[href], input, textarea, svg[role=img]')]
      .filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length || node.title)).map((node) => node.outerHTML));
    assert.deepEqual(nameless, [], path);
    assert.equal(await tab.locator('h1').count(), 1, path);
    assert.match(await tab.title(), /^\S.* · Errand$/);
    const ids = await tab.evaluate(() => [...document.querySelectorAll('[id]')].map((node) => node.id));
    assert.equal(new Set(ids).size, ids.length, path);
  }
});

dashboardTest('contrast of text is at least 4.5 in both themes', {}, async ({ page, program }) => {
  const id = await someWork(program);
  for (const colorScheme of ['light', 'dark']) {
    const tab = await page('/', { colorScheme });
    for (const path of ['/', '/tasks', '/failed', '/queues', `/tasks/${id}`]) {
      await tab.goto(program.url + path);
      await tab.locator('h1').waitFor();
      await tab.locator('tbody tr, .json').first().waitFor();
      assert.deepEqual(await tab.evaluate(faintTexts), [], `${path} ${colorScheme}`);
    }
  }
});

/** In the page: texts whose colour is too near to what is behind them. */
function faintTexts() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const behind = (node) => {
    if (!node) return [255, 255, 255, 1];
    const own = colour(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(node.parentElement));
  };
  const light = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const faint = [];
  for (const node of document.querySelectorAll('body *')) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (!hasText || !node.checkVisibility() || node.closest('svg, [aria-disabled], :disabled, .unseen, .skip')) continue;
    const back = behind(node);
    const [a, b] = [light(over(colour(getComputedStyle(node).color), back)), light(back)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push(`${node.className} "${node.textContent.trim().slice(0, 30)}" ${contrast.toFixed(2)}`);
  }
  return faint;
}

dashboardTest('with the keyboard alone', {}, async ({ page, program }) => {
  await someWork(program);
  const tab = await page('/');
  await tab.locator('h1').waitFor();
  await tab.evaluate(() => document.activeElement.blur());
  await tab.keyboard.press('Tab');
  assert.equal(await tab.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await tab.keyboard.press('Enter');
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'main');
  await tab.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Queues' }).focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { name: 'Queues' }).waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement.tagName), 'H1', 'a new page is read from its heading');
  await tab.getByRole('button', { name: 'Pause' }).focus();
  await tab.keyboard.press('Enter');
  await waitForText(tab.locator('tr[data-queue="default"]'), 'Paused');
  await tab.getByRole('button', { name: 'Purge' }).focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('dialog').waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement.textContent), 'Cancel', 'the harmless answer is the one at hand');
  await tab.keyboard.press('Escape');
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
});

dashboardTest('documents of megabytes are folded', {}, async ({ page, program }) => {
  const id = await program.submit('errand.echo', { rows: Array.from({ length: 30_000 }, (_, n) => ({ n, text: 'row'.repeat(10) })), blob: 'x'.repeat(1_000_000) });
  const tab = await page(`/tasks/${id}`);
  await tab.locator('.json').waitFor();
  assert.ok(await tab.evaluate(() => document.querySelectorAll('*').length) < 2000);
  await tab.getByText('30,000 members').click();
  await tab.getByText('show 29,900 more').click();
  await tab.getByText('show 29,800 more').waitFor();
  await tab.getByText('show all 1,000,000 characters').click();
  await tab.waitForFunction(() => [...document.querySelectorAll('.json-string')].some((node) => node.textContent.length > 1_000_000));
  await assertNoOverflow(tab);
});
