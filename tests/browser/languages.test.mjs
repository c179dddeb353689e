// Two languages, two themes: by default as the browser has them, and by their switches.

import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { assert, dashboardTest, waitForText } from './suite.mjs';
import { webModule } from './web_module.mjs';

const { default: en } = await webModule('locales/en.js');
const { default: zh } = await webModule('locales/zh.js');

test('both languages have the same texts, with the same parts', () => {
  assert.deepEqual(Object.keys(en).sort(), Object.keys(zh).sort());
  const parts = (text) => (typeof text === 'function' ? text({ n: '2' }) : text).match(/\{\w+\}/g)?.sort() ?? [];
  for (const name of Object.keys(en)) assert.deepEqual(parts(zh[name]), parts(en[name]), name);
});

test('every text is used, and every text that is used exists', () => {
  const web = new URL('../../web/', import.meta.url);
  const sources = [...readdirSync(web), ...readdirSync(new URL('views/', web)).map((name) => `views/${name}`)]
    .filter((name) => name.endsWith('.js')).map((name) => readFileSync(new URL(name, web), 'utf8')).join('\n');
  // t('name'), t(`name.${part}`), t(which ? 'name' : 'other'), and names handed on: ['unit.s', 1].
  const words = new Set([...sources.matchAll(/['`]([a-zA-Z]+(?:\.[\w${}.]+)*)['`]/g)].map(([, word]) => word));
  const patterns = [...words].filter((word) => word.includes('${')).map((word) => new RegExp(`^${word.replace(/\./g, '\\.').replace(/\$\{[^}]*\}/g, '.+')}$`));
  for (const name of Object.keys(en)) assert.ok(words.has(name) || patterns.some((pattern) => pattern.test(name)), `nothing shows ${name}`);
  for (const [, name] of sources.matchAll(/\bt\('([^']+)'/g)) assert.ok(name in en, `there is no text ${name}`);
});

for (const [locale, submit, status] of [['en-US', 'Submit', 'Completed'], ['zh-CN', '提交', '已完成']]) {
  for (const colorScheme of ['light', 'dark']) {
    dashboardTest(`submit to completed in ${locale}, ${colorScheme}`, { options: ['--worker'] }, async ({ page }) => {
      const tab = await page('/submit', { locale, colorScheme });
      await tab.locator('#submit-type').fill('errand.echo');
      await tab.locator('#submit-payload').fill('{"你好": "世界"}');
      await tab.getByRole('button', { name: submit, exact: true }).click();
      await waitForText(tab.locator('.page-head .status'), status);
      await waitForText(tab.locator('.json'), '世界');
      assert.equal(await tab.evaluate(() => document.documentElement.lang), locale === 'zh-CN' ? 'zh-CN' : 'en');
      const [red] = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      assert.equal(red < 128, colorScheme === 'dark');
      for (const path of ['/', '/tasks', '/failed', '/queues', '/workers', '/nowhere']) {
        await tab.goto(new URL(path, tab.url()).href);
        await tab.locator('h1').waitFor();
      }
    });
  }
}

dashboardTest('the switches, and that they are remembered', {}, async ({ page }) => {
  const tab = await page('/queues');
  await tab.getByRole('heading', { name: 'Queues' }).waitFor();
  await tab.getByRole('button', { name: '中文' }).click();
  await tab.getByRole('heading', { name: '队列' }).waitFor();
  await tab.getByRole('button', { name: '深色主题' }).click();
  const isDark = () => tab.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]) < 128);
  assert.equal(await isDark(), true);
  await tab.reload();
  await tab.getByRole('heading', { name: '队列' }).waitFor();
  assert.equal(await isDark(), true);
  await tab.getByRole('button', { name: '浅色主题' }).click();
  assert.equal(await isDark(), false);
  await tab.getByRole('button', { name: 'English' }).click();
  await tab.getByRole('heading', { name: 'Queues' }).waitFor();
});

dashboardTest('what was typed survives a change of the language', {}, async ({ page }) => {
  const tab = await page('/submit');
  await tab.locator('#submit-type').fill('half.typed');
  await tab.getByRole('button', { name: '中文' }).click();
  await tab.getByRole('heading', { name: '提交任务' }).waitFor();
  assert.equal(await tab.locator('#submit-type').inputValue(), 'half.typed');
});
