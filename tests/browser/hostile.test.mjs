// 500 hostile texts in every field there is: nothing executes, no page becomes wider than its window.

import { assert, assertNoOverflow, dashboardTest } from './suite.mjs';
import { quoted } from './program.mjs';
import { hostileTexts } from './hostile_texts.mjs';

const PAGE_SIZE = 50;

/** Tasks in every status, with texts[n] in every field, as a hostile or broken program would store them. */
function storeTasks(program, texts) {
  const statements = ['begin;'];
  const ids = texts.map((text, n) => {
    const id = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
    const status = ['failed', 'completed', 'pending', 'running', 'retrying', 'cancelled'][n % 6];
    const ended = ['failed', 'completed', 'cancelled'].includes(status);
    const error = {
      class: text, message: text, code: 1, file: text, line: 2, trace: `${text}\n${text}`,
      previous: { class: text, message: text, file: text, line: 1, trace: text, previous: null },
    };
    const json = (value) => quoted(JSON.stringify(value));
    // Half of the documents are JSON with the text as name and value, half are the text itself.
    const document = n % 2 ? json({ [text]: text, list: [text, { [text]: text }] }) : quoted(text);
    const moment = "strftime('%Y-%m-%d %H:%M:%f000', 'now')";
    statements.push(`insert into async_tasks (task_id, status, submitted_at, started_at, completed_at, version, queue_name, type, available_at, attempts,
        lease_expires_at, worker, progress, headers, history, error, result, payload)
      values (${quoted(id)}, ${quoted(status)}, ${moment}, ${moment}, ${ended ? moment : 'null'}, 1, ${quoted(text)}, ${quoted(text)}, ${moment}, 2,
        ${status === 'running' ? "'2099-01-01 00:00:00'" : 'null'}, ${quoted(text)}, ${json({ done: 1, total: 3, note: text })}, ${json({ [text]: text })},
        ${json([{ attempt: 1, at: '2026-01-01T00:00:00Z', worker: text, error }])}, ${status === 'failed' ? (n % 4 ? json(error) : quoted(text || 'x')) : 'null'},
        ${status === 'completed' ? document : 'null'}, ${document});`);
    return id;
  });
  texts.slice(0, 40).forEach((text, n) => {
    const moment = "strftime('%Y-%m-%d %H:%M:%f000', 'now')";
    statements.push(`insert into errand_workers values (${quoted(`${n}${text}`)}, ${quoted(text)}, 1, ${quoted(JSON.stringify([text, text]))}, 2, 1, 3, 1, ${moment}, ${moment});`);
    statements.push(`insert or ignore into errand_paused_queues values (${quoted(text)}, ${moment});`);
  });
  program.sql([...statements, 'commit;'].join('\n'));
  return ids;
}

/** In the page: what went wrong in it, or null. */
function harm() {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (window.pwned !== undefined || document.title.includes('pwned')) return 'a text was executed';
  const strange = document.querySelector('main :is(script, style, link, meta, base, iframe, object, embed, video, math, img, form[action], a[href^="javascript"], [onerror], [onload])');
  if (strange) return `there is ${strange.outerHTML.slice(0, 200)}`;
  return scrollWidth > clientWidth ? `the page is ${scrollWidth} wide in a window of ${clientWidth}` : null;
}

async function assertUnharmed(page, where) {
  await assertNoOverflow(page, where);
  assert.equal(await page.evaluate(harm), null, where);
  assert.deepEqual(page.troubles, [], where);
}

/** In the page: walks from task to task as links do, unfolds all of each, and returns [[id, harm]…]. */
async function walkThrough(ids) {
  const found = [];
  for (const id of ids) {
    const link = document.createElement('a');
    link.href = `/tasks/${id}`;
    document.body.append(link);
    link.click();
    link.remove();
    while (document.querySelector('.task .crumbs .id')?.textContent !== id) await new Promise((done) => { setTimeout(done, 5); });
    document.querySelectorAll('main details').forEach((fold) => { fold.open = true; });
    await new Promise((done) => { setTimeout(done, 0); });  // what was unfolded is made now
    const harmed = window.harm();
    if (harmed) found.push([id, harmed]);
  }
  return found;
}

dashboardTest('500 hostile texts in every field', {}, async ({ page, program }) => {
  const texts = hostileTexts(500);
  assert.equal(new Set(texts).size, 500);
  const ids = storeTasks(program, texts);
  const tab = await page('/tasks');
  await tab.locator('table.tasks tbody tr').first().waitFor();

  await tab.evaluate(`window.harm = ${harm}`);
  for (let n = 0; n < ids.length; n += PAGE_SIZE) {
    const found = await tab.evaluate(walkThrough, ids.slice(n, n + PAGE_SIZE));
    assert.deepEqual(found.map(([id, harmed]) => [texts[ids.indexOf(id)].slice(0, 80), harmed]), []);
    assert.deepEqual(tab.troubles, []);
  }

  for (let shown = 0; shown < 500; shown += PAGE_SIZE) {
    await tab.goto(`${program.url}/tasks?page=${shown / PAGE_SIZE + 1}`);
    await tab.locator('table.tasks tbody tr').first().waitFor();
    await assertUnharmed(tab, `tasks from ${shown}`);
  }
  for (const width of [1280, 760, 380]) {
    await tab.setViewportSize({ width, height: 800 });
    for (const [path, ready] of [['/', '.worker'], ['/tasks', '.tasks'], ['/failed', '.failures'], ['/queues', 'tr[data-queue]'], ['/workers', '.worker']]) {
      await tab.goto(program.url + path);
      await tab.locator(ready).first().waitFor();
      await assertUnharmed(tab, `${path} at ${width}`);
    }
  }
});

dashboardTest('hostile texts in forms, filters, addresses and answers', { options: ['--worker'] }, async ({ page, program }) => {
  const tab = await page('/submit');
  const hostile = '"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  await tab.getByLabel('Type').fill(hostile);
  await tab.getByLabel('Queue').fill(hostile);
  await tab.getByLabel('Payload, JSON').fill(JSON.stringify({ [hostile]: hostile }));
  await tab.getByRole('button', { name: 'Submit' }).click();
  await tab.waitForURL(/\/tasks\//);
  await tab.locator('.json').first().waitFor();
  await assertUnharmed(tab, 'submitted');

  const failing = await program.submit('errand.fail', { message: hostile }, { maxRetries: 0 });
  await program.result(failing);
  await tab.goto(`${program.url}/failed`);
  await tab.locator('table.groups').getByRole('button', { name: 'Retry' }).first().click();
  await tab.getByRole('dialog').waitFor();
  await assertUnharmed(tab, 'dialog');
  await tab.keyboard.press('Escape');

  await tab.goto(`${program.url}/queues`);
  await tab.locator('tr[data-queue]').filter({ hasText: 'onerror' }).getByRole('button', { name: 'Pause' }).click();
  await tab.locator('.notice').waitFor();
  await assertUnharmed(tab, 'notice');

  const encoded = encodeURIComponent(hostile);
  const elsewhere = encodeURIComponent('"><img src=x onerror=alert(1)>');  // a dot would make it a file
  for (const path of [`/tasks?type=${encoded}&queue=${encoded}&status=${encoded}&cursor=${encoded}`, `/tasks/${elsewhere}`, `/failed?class=${encoded}&pattern=${encoded}`,
    `/?range=${encoded}`, `/submit?from=${encoded}`, `/${elsewhere}`, '/tasks?type=__proto__&queue=constructor', '/?range=constructor', '//example.com/tasks']) {
    await tab.goto(program.url + path);
    await tab.locator('h1').waitFor();
    await assertUnharmed(tab, path);
  }
  const refused = await tab.goto(`${program.url}/tasks/%ff`);
  assert.equal(refused.status(), 400);
  assert.match(refused.headers()['content-type'], /problem\+json/);
});
