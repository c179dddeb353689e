// How it goes: counts, curves, queues, workers.

import { get } from '../api.js';
import { lineChart } from '../charts.js';
import { h, replace, setText, showItems } from '../dom.js';
import { compact, duration, number, percent, perSecond, serverNow, shortDuration } from '../format.js';
import { t } from '../i18n.js';
import { emptyState, errorState, pageHead, STATUSES, table } from '../parts.js';
import { go } from '../router.js';
import { throttle } from '../throttle.js';
import { queueRow, withWorkers } from './queue_row.js';
import { workerCard } from './worker_card.js';

const RANGES = {
  '5m': { span: 5 * 60_000, step: 5 },
  '1h': { span: 3_600_000, step: 5 },
  '24h': { span: 86_400_000, step: 60 },
};
const REFRESH = 5000;
const MOST_SAMPLES = 1440;  // of one answer

function rangeOf({ range }) {
  return range && Object.hasOwn(RANGES, range) ? range : '5m';
}

export function overviewView({ query }) {
  let range = rangeOf(query);
  let samples = [];
  let timer = null;

  const counts = Object.fromEntries(STATUSES.map((status) => [status, h('span', { class: 'count' }, '–')]));
  const tiles = h('div', { class: 'tiles' }, STATUSES.map((status) =>
    h('a', { class: `tile tone-${status}`, href: `/tasks?status=${status}` },
      h('span', { class: 'tile-name' }, t(`status.${status}`)), counts[status])));

  const charts = {
    throughput: lineChart({
      title: t('chart.throughput'), format: perSecond, axis: compact,
      series: [{ label: t('chart.submitted'), tone: 'pending' }, { label: t('chart.completed'), tone: 'completed', area: true }],
    }),
    latency: lineChart({
      title: t('chart.duration'), format: duration, axis: shortDuration, least: 0.1,
      series: [{ label: t('chart.median'), tone: 'accent', area: true }, { label: t('chart.p95'), tone: 'second' }],
    }),
    failures: lineChart({
      title: t('chart.failures'), format: percent, axis: percent, least: 0.05,
      series: [{ label: t('chart.failedShare'), tone: 'failed', area: true }],
    }),
    waiting: lineChart({
      title: t('chart.waiting'), format: duration, axis: shortDuration, least: 0.1,
      series: [{ label: t('chart.median'), tone: 'accent', area: true }, { label: t('chart.p95'), tone: 'second' }],
    }),
  };

  const ranges = h('div', { class: 'segments', role: 'group', 'aria-label': t('chart.range') },
    Object.keys(RANGES).map((name) => h('button', { 'data-range': name, onclick: () => go(name === '5m' ? '/' : `/?range=${name}`) }, t(`chart.range.${name}`))));
  const queueBody = h('tbody');
  const queuePlace = h('div');
  const workerPlace = h('div', { class: 'worker-cards' });
  const workerEmpty = h('div');
  const trouble = h('div', { class: 'trouble' });
  const element = h('div', {},
    pageHead(t('nav.overview'), ranges), trouble, tiles,
    h('div', { class: 'charts' }, Object.values(charts).map((chart) => chart.element)),
    h('div', { class: 'columns' },
      h('section', { class: 'panel' },
        h('header', { class: 'panel-head' }, h('h2', {}, t('nav.queues')), h('span', { class: 'spring' }), h('a', { href: '/queues' }, t('overview.all'))),
        queuePlace),
      h('section', { class: 'panel' },
        h('header', { class: 'panel-head' }, h('h2', {}, t('nav.workers')), h('span', { class: 'spring' }), h('a', { href: '/workers' }, t('overview.all'))),
        workerEmpty, workerPlace)));
  const queueTable = table('queues brief', [[t('queue.name')], [t('queue.due'), 'number'], [t('queue.delayed'), 'number delayed'], [t('queue.running'), 'number'], [t('queue.oldest'), 'number oldest']], queueBody, t('nav.queues'));
  const queuesEmpty = emptyState(t('queues.empty'), t('queues.emptyHint'));

  const showRange = () => {
    for (const button of ranges.children) button.setAttribute('aria-pressed', String(button.dataset.range === range));
  };

  const showCharts = () => {
    const to = serverNow();
    const from = to - RANGES[range].span;
    const points = (values) => samples.map((sample) => ({ at: sample.time, values: values(sample) }));
    charts.throughput.update(points(({ rates }) => [rates.submitted, rates.completed]), from, to);
    charts.latency.update(points(({ durationMs }) => [durationMs?.p50 ?? null, durationMs?.p95 ?? null]), from, to);
    charts.waiting.update(points(({ waitMs }) => [waitMs?.p50 ?? null, waitMs?.p95 ?? null]), from, to);
    charts.failures.update(points(({ rates }) => {
      const ended = rates.failed + rates.completed;
      return [rates.failed === null ? null : ended > 0 ? rates.failed / ended : null];
    }), from, to);
  };

  /** All samples at first, then the last few. */
  const readHistory = async () => {
    const { step, span } = RANGES[range];
    const missing = samples.length ? serverNow() - samples.at(-1).time : span;
    const last = Math.min(Math.ceil(missing / 1000 / step) + 2, MOST_SAMPLES);
    const wanted = range;
    const answer = await get('/api/stats/history', { step, last });
    if (wanted !== range) return;
    const fresh = answer.samples.map((sample) => ({ ...sample, time: Date.parse(sample.at) }));
    const begin = fresh.length ? fresh[0].time : Infinity;
    samples = [...samples.filter((sample) => sample.time < begin && sample.time >= serverNow() - span), ...fresh];
    showCharts();
  };

  const showWorkers = ({ items }) => {
    showItems(workerPlace, items.slice(0, 6), (worker) => worker.worker, (worker) => workerCard(worker, { brief: true }));
    replace(workerEmpty, items.length ? null : emptyState(t('workers.empty'), t('workers.emptyHint')));
  };
  const readWorkers = throttle(async () => {
    try {
      showWorkers(await get('/api/workers'));
    } catch {
      // The stream tells when the server is away, and load() is called when it is back.
    }
  }, 2000);

  const showStats = (sample) => {
    for (const status of STATUSES) setText(counts[status], number(sample.tasks[status]));
    const queues = withWorkers(sample).sort((a, b) => b.due - a.due || b.running - a.running).slice(0, 8);
    showItems(queueBody, queues, (queue) => queue.queue, (queue) => queueRow(queue, { brief: true }));
    replace(queuePlace, queues.length ? queueTable : queuesEmpty);
  };

  const load = async () => {
    try {
      const [stats] = await Promise.all([get('/api/stats'), readHistory()]);
      showStats(stats);
      readWorkers();
      replace(trouble);
    } catch (error) {
      replace(trouble, errorState(error, load));
    }
    clearInterval(timer);
    timer = setInterval(() => {
      if (!document.hidden) readHistory().catch(() => {});
    }, REFRESH);
  };

  showRange();
  return {
    title: t('nav.overview'),
    element,
    load,
    onStats(sample) {
      showStats(sample);
      readWorkers();
    },
    update(newQuery) {
      range = rangeOf(newQuery);
      samples = [];
      showRange();
      load();
    },
    close() {
      clearInterval(timer);
      readWorkers.cancel();
    },
  };
}
