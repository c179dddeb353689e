// Queues: what waits, since when; pause, resume, purge.

import { get, post } from '../api.js';
import { ask } from '../dialog.js';
import { h, replace, showItems } from '../dom.js';
import { number, oneLine } from '../format.js';
import { t } from '../i18n.js';
import { attempt, tell } from '../notices.js';
import { emptyState, errorState, pageHead, table } from '../parts.js';
import { mayChange } from '../session.js';
import { throttle } from '../throttle.js';
import { idleQueue, queueRow, withWorkers } from './queue_row.js';

const SPARK_SAMPLES = 60;

export function queuesView() {
  const body = h('tbody');
  const place = h('div');
  const whole = h('div', { class: 'panel' }, table('queues', [[t('queue.name')], [t('queue.trend'), 'spark'], [t('queue.due'), 'number'], [t('queue.delayed'), 'number delayed'],
    [t('queue.running'), 'number'], [t('queue.oldest'), 'number oldest'], [h('span', { class: 'unseen' }, t('actions')), 'actions']], body, t('nav.queues')));
  const empty = emptyState(t('queues.empty'), t('queues.emptyHint'));

  const change = (queue, verb) => attempt(async () => {
    const answer = await post(`/api/queues/${encodeURIComponent(queue)}/${verb}`);
    tell(t(`queue.done.${verb}`, { queue: oneLine(queue), n: number(answer.purged ?? 0) }));
    await load();
  });

  const purge = async (queue) => {
    const agreed = await ask({
      title: t('queue.purgeTitle', { queue: oneLine(queue) }), text: t('queue.purgeText'),
      action: t('queue.purge'), danger: true,
    });
    if (agreed) await change(queue, 'purge');
  };

  const actions = ({ queue, paused }) => mayChange() ? [
    paused ? h('button', { class: 'primary', onclick: () => change(queue, 'resume') }, t('queue.resume'))
      : h('button', { onclick: () => change(queue, 'pause') }, t('queue.pause')),
    h('button', { class: 'quiet danger-text', onclick: () => purge(queue) }, t('queue.purge')),
  ] : [];

  /** Seen here since the page was opened: a queue that runs empty does not slip away under the pointer. */
  const seen = new Set();

  const show = (sample) => {
    const now = withWorkers(sample);
    for (const { queue } of now) seen.add(queue);
    const there = new Set(now.map(({ queue }) => queue));
    const items = [...now, ...[...seen].filter((queue) => !there.has(queue)).map((queue) => ({ ...idleQueue(queue), served: false }))]
      .sort((a, b) => (a.queue < b.queue ? -1 : 1));
    showItems(body, items, (queue) => queue.queue, (queue) => queueRow(queue, { actions }));
    replace(place, items.length ? whole : empty);
  };

  const readTrends = throttle(async () => {
    try {
      const { samples } = await get('/api/stats/history', { step: 5, last: SPARK_SAMPLES });
      for (const [queue, { spark }] of body.shown ?? []) spark.update(samples.map(({ due }) => (Object.hasOwn(due, queue) ? due[queue] : 0)));
    } catch {
      // The stream tells when the server is away.
    }
  }, 5000);

  async function load() {
    try {
      show(await get('/api/stats'));
      readTrends();
    } catch (error) {
      replace(place, errorState(error, load));
    }
  }

  return {
    title: t('nav.queues'),
    element: h('div', {}, pageHead(t('nav.queues')), place),
    load,
    onStats(sample) {
      show(sample);
      readTrends();
    },
    close: readTrends.cancel,
  };
}
