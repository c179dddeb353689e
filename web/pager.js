// Pages of a list that may have a million rows. A page continues behind the one before (`cursor`), so
// that all cost the same; only who comes without that knowledge asks by number.

import { h, replace } from './dom.js';
import { number } from './format.js';
import { t } from './i18n.js';

const TRAIL = 'errand.trail';

/** The query of the API for a query of the page. */
export function pageQuery({ cursor, page }) {
  return cursor ? { cursor } : { page };
}

/** How one came to a page: the places of the pages before it, by their cursors. */
function trail() {
  try {
    return JSON.parse(sessionStorage.getItem(TRAIL)) ?? {};
  } catch {
    return {};
  }
}

function remember(next, from) {
  const known = Object.entries(trail()).slice(-500);
  sessionStorage.setItem(TRAIL, JSON.stringify({ ...Object.fromEntries(known), [next]: from }));
}

/**
 * Null if there is one page only. `link(place)`: the address of the list at {cursor} or {page}, {} being the first page. `answer`: what
 * the API gave for `query`.
 */
export function pager(answer, query, link) {
  const { page, total, total_pages: pages, next } = answer;
  let older = null;
  if (next) {
    remember(next, query.cursor ?? `page ${page}`);
    older = { cursor: next };
  } else if (page < pages && answer.items.length === answer.page_size) {
    older = { page: page + 1 };
  }
  let newer = null;
  if (page > 1) {
    const known = trail();
    const from = query.cursor && Object.hasOwn(known, query.cursor) ? known[query.cursor] : null;
    newer = page === 2 ? {} : from && !from.startsWith('page ') ? { cursor: from } : { page: page - 1 };
  }
  if (!older && !newer) return null;
  const step = (place, text, rel) => place
    ? h('a', { class: 'button', rel, href: link(place) }, text)
    : h('span', { class: 'button', 'aria-disabled': 'true' }, text);
  return h('nav', { class: 'pager', 'aria-label': t('pager.label') },
    h('span', { class: 'muted number' }, t('pager.position', { total: number(total), page: number(page), pages: number(Math.max(1, pages)) })),
    h('span', { class: 'spring' }),
    page > 1 ? h('a', { class: 'button quiet', href: link({}) }, t('pager.first')) : null,
    step(newer, t('pager.newer'), 'prev'), step(older, t('pager.older'), 'next'));
}

export function showPager(place, answer, query, link) {
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute('rel') : null;
  replace(place, pager(answer, query, link));
  if (focused) place.querySelector(`[rel=${focused}]`)?.focus();
}
