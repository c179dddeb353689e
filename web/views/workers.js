// Workers, and what they run.

import { get } from '../api.js';
import { h, replace, showItems } from '../dom.js';
import { t } from '../i18n.js';
import { emptyState, errorState, pageHead } from '../parts.js';
import { throttle } from '../throttle.js';
import { workerCard } from './worker_card.js';

export function workersView() {
  const cards = h('div', { class: 'worker-cards wide' });
  const place = h('div');
  const empty = emptyState(t('workers.empty'), t('workers.emptyHint'), h('code', {}, 'errand worker'));

  async function load() {
    try {
      const { items } = await get('/api/workers');
      showItems(cards, items, (worker) => worker.worker, (worker) => workerCard(worker));
      replace(place, items.length ? cards : empty);
    } catch (error) {
      replace(place, errorState(error, load));
    }
  }
  const refresh = throttle(load, 1000);

  return {
    title: t('nav.workers'),
    element: h('div', {}, pageHead(t('nav.workers')), place),
    load,
    listen: { topics: 'stats,tasks' },
    onStats: refresh,
    onTasks: refresh,
    close: refresh.cancel,
  };
}
