// A queue as a row of a table: short on the overview, with all there is to do on its own page.

import { sparkline } from '../charts.js';
import { h, setText } from '../dom.js';
import { duration, number } from '../format.js';
import { t } from '../i18n.js';
import { foreign } from '../parts.js';

export function tasksOf(queue, status) {
  const search = new URLSearchParams({ ...(status ? { status } : {}), queue });
  return `/tasks?${search}`;
}

/** `actions(queue)`: elements of the last cell, made anew when the queue is paused or resumed. */
/**
 * The queues of a sample, each with `served`, whether a worker serves it; those that a worker serves are there although
 * nothing waits in them. By name.
 */
export function withWorkers({ queues, workers }) {
  const served = new Set(workers.flatMap((worker) => worker.queues));
  const known = new Set(queues.map(({ queue }) => queue));
  const idle = [...served].filter((queue) => !known.has(queue)).map(idleQueue);
  return [...queues, ...idle]
    .map((queue) => ({ ...queue, served: served.has(queue.queue) }))
    .sort((a, b) => (a.queue < b.queue ? -1 : 1));
}

export function idleQueue(queue) {
  return { queue, paused: false, due: 0, delayed: 0, running: 0, oldestDueMs: null };
}

export function queueRow(first, { brief = false, actions = () => [] } = {}) {
  const pausedMark = h('span', { class: 'pill tone-retrying' }, t('queue.paused'));
  const unserved = h('span', { class: 'pill tone-failed', title: t('queue.unservedHint') }, t('queue.unserved'));
  const due = h('a', { href: tasksOf(first.queue, 'pending,retrying') });
  const delayed = h('span');
  const running = h('a', { href: tasksOf(first.queue, 'running') });
  const oldest = h('span');
  const spark = brief ? null : sparkline('accent');
  const actionCell = h('td', { class: 'actions' });
  const element = h('tr', { 'data-queue': first.queue },
    h('td', {}, h('span', { class: 'name-and-mark' }, h('a', { href: tasksOf(first.queue) }, foreign(first.queue)), pausedMark, unserved)),
    spark ? h('td', { class: 'spark' }, spark.element) : null,
    h('td', { class: 'number' }, due), h('td', { class: 'number delayed' }, delayed),
    h('td', { class: 'number' }, running), h('td', { class: 'number oldest' }, oldest),
    brief ? null : actionCell);
  let paused = null;
  return {
    element,
    spark,
    update(queue) {
      setText(due, number(queue.due));
      setText(delayed, number(queue.delayed));
      setText(running, number(queue.running));
      setText(oldest, queue.oldestDueMs === null ? '–' : duration(queue.oldestDueMs));
      unserved.hidden = queue.served || queue.due + queue.delayed === 0;
      if (paused === queue.paused) return;
      paused = queue.paused;
      pausedMark.hidden = !paused;
      const focused = [...actionCell.children].indexOf(document.activeElement);
      actionCell.replaceChildren(...actions(queue));
      actionCell.children[focused]?.focus();
    },
  };
}
