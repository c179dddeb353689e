// Failures: those of tasks, and of each transport that failed messages go to.

import { address, get } from '../api.js';
import { h, replace } from '../dom.js';
import { t } from '../i18n.js';
import { foreign, pageHead } from '../parts.js';
import { failures } from './failures.js';
import { messagesOf, tasks } from './failure_sources.js';

function sourceOf({ kind, transport }) {
  return kind === 'message' ? messagesOf(transport) : tasks;
}

export function failedView({ query: firstQuery }) {
  let source = null;
  let list = null;
  let transports = [];
  const place = h('div');
  const tabs = h('nav', { class: 'segments', 'aria-label': t('failed.kinds') });

  const tab = (target, ...name) => h('a', {
    class: 'segment', href: address('/failed', target.base), 'aria-current': target.key === source.key ? 'page' : null,
  }, name);
  const showTabs = () => {
    tabs.hidden = transports.length === 0;
    replace(tabs, tab(tasks, t('nav.tasks')), transports.map((name) => tab(messagesOf(name), t('messages.of'), ' ', foreign(name))));
  };

  /** Another source is another list; another filter or page is the same one. */
  const open = (query) => {
    const wanted = sourceOf(query);
    if (wanted.key === source?.key) {
      list.update(query);
      return false;
    }
    list?.close();
    source = wanted;
    list = failures(source, query);
    replace(place, list.element);
    showTabs();
    return true;
  };
  open(firstQuery);

  const readTransports = async () => {
    try {
      transports = (await get('/api/failed/transports')).items;
      showTabs();
    } catch {
      // The list says what is wrong; without these names there are tasks.
    }
  };

  return {
    title: t('nav.failed'),
    element: h('div', {}, pageHead(t('nav.failed'), tabs), place),
    load: () => Promise.all([readTransports(), list.load()]),
    update(query) {
      if (open(query)) list.load();
    },
    onStats: (sample) => list.onStats(sample),
    close: () => list.close(),
  };
}
