// Short news at the edge of the page: what was done, or why not.

import { h } from './dom.js';
import { oneLine } from './format.js';
import { t } from './i18n.js';

const SHOWN_FOR = 6000;

function show(text, tone) {
  const notice = h('div', { class: `notice tone-${tone}` }, h('span', {}, oneLine(text)),
    h('button', { class: 'quiet', 'aria-label': t('notice.close'), onclick: () => notice.remove() }, '✕'));
  document.getElementById('notices').append(notice);
  setTimeout(() => notice.remove(), SHOWN_FOR);
}

export function tell(text) {
  show(text, 'completed');
}

/** Runs an action of the person's; errors are told. Resolves to undefined then. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (error.status !== 401) show(error.status === 0 ? t('error.unreachable') : error.message, 'failed');
    if (error.status === undefined) throw error;
    return undefined;
  }
}
