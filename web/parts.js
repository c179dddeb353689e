// Small pieces that several views are made of.

import { h, setClass, setText } from './dom.js';
import { number, oneLine } from './format.js';
import { t } from './i18n.js';

export const STATUSES = ['pending', 'running', 'retrying', 'completed', 'failed', 'cancelled'];

/** Text of strangers on one line: isolated, cut by the layout, whole in its title. */
export function foreign(text, className = '') {
  const element = h('bdi', { class: `foreign ${className}`.trim() });
  setForeign(element, text);
  return element;
}

export function setForeign(element, text) {
  const shown = oneLine((text ?? '').slice(0, 1000));
  setText(element, shown);
  if (element.title !== shown) element.title = shown;
}

export function statusBadge(status) {
  const element = h('span');
  setStatus(element, status);
  return element;
}

export function setStatus(element, status) {
  setClass(element, `status tone-${status}`);
  setText(element, t(`status.${status}`));
}

export function pageHead(title, ...actions) {
  return h('div', { class: 'page-head' }, h('h1', { tabindex: '-1' }, title), h('span', { class: 'spring' }), actions);
}

export function emptyState(title, hint, ...actions) {
  return h('div', { class: 'empty' },
    h('p', { class: 'empty-title' }, title), hint ? h('p', { class: 'muted' }, hint) : null,
    actions.length ? h('p', {}, actions) : null);
}

/** What an ApiError says, and a way to try again. */
export function errorState(error, again) {
  const title = error.status === 0 ? t('error.unreachable') : t('error.title');
  return h('div', { class: 'empty error-state', role: 'alert' },
    h('p', { class: 'empty-title' }, title),
    h('p', { class: 'muted' }, oneLine(error.status === 0 ? t('error.unreachableHint') : error.message)),
    again ? h('p', {}, h('button', { onclick: again }, t('error.again'))) : null);
}

/** A bar that is `part` of `whole` long; the text beside it says the same. */
export function meter(part, whole, tone = 'accent') {
  const inner = h('span', { class: 'meter-inner' });
  const element = h('span', { class: `meter tone-${tone}`, 'aria-hidden': 'true' }, inner);
  const update = (newPart, newWhole) => {
    const share = newWhole > 0 ? Math.min(1, Math.max(0, newPart / newWhole)) : 0;
    inner.style.inlineSize = `${share * 100}%`;
  };
  update(part, whole);
  return { element, update };
}

/** Of a task, {done, total, note}. */
export function progressText({ done, total, note }) {
  const count = total > 0 ? `${number(done)} / ${number(total)}` : number(done);
  return note ? `${count} · ${note}` : count;
}

/** `heads`: [[name or element, class]…]. The caption is for screen readers. */
export function table(className, heads, body, caption) {
  return h('div', { class: 'table-frame' },
    h('table', { class: className },
      h('caption', { class: 'unseen' }, caption),
      h('thead', {}, h('tr', {}, heads.map(([name, kind]) =>
        h('th', { scope: 'col', class: kind }, name)))),
      body));
}
