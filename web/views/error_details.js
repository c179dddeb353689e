// An ErrorData: class, message, place, stack, and what caused it.

import { h } from '../dom.js';
import { visible } from '../format.js';
import { t } from '../i18n.js';
import { longText } from '../json_tree.js';

const LONG_MESSAGE = 4000;
const LONG_TRACE = 20_000;
const MOST_CAUSES = 20;

/** The error as it is stored: JSON text, which may be anything. Null if it is no ErrorData. */
export function parseError(text) {
  try {
    const error = JSON.parse(text);
    return typeof error === 'object' && error !== null && typeof error.class === 'string' ? error : null;
  } catch {
    return null;
  }
}

function one(error, folded) {
  const place = error.file ? `${error.file}${error.line ? `:${error.line}` : ''}` : '';
  return h('div', { class: 'error' },
    h('p', { class: 'error-class' }, h('bdi', {}, visible(error.class ?? '')),
      error.code ? h('span', { class: 'pill' }, t('error.code', { code: String(error.code) })) : null),
    h('div', { class: 'error-message' }, longText(String(error.message ?? ''), LONG_MESSAGE)),
    place ? h('p', { class: 'error-place' }, h('bdi', {}, visible(place))) : null,
    error.trace ? h('details', { open: !folded },
      h('summary', {}, t('error.trace', { n: String(error.trace).trimEnd().split('\n').length })),
      h('div', { class: 'trace' }, longText(String(error.trace).trimEnd(), LONG_TRACE))) : null);
}

/** `folded`: the stack is shown on request. */
export function errorDetails(error, { folded = false } = {}) {
  const parts = [one(error, folded)];
  let cause = error.previous;
  for (let i = 0; cause && typeof cause === 'object' && i < MOST_CAUSES; i += 1, cause = cause.previous) {
    parts.push(h('p', { class: 'caused-by muted' }, t('error.causedBy')), one(cause, true));
  }
  return h('div', { class: 'errors' }, parts);
}
