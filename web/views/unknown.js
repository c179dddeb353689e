// An address that leads nowhere.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { emptyState, pageHead } from '../parts.js';

export function unknownView() {
  return {
    title: t('unknown.title'),
    element: h('div', {}, pageHead(t('unknown.title')), emptyState(t('unknown.text'), null, h('a', { href: '/' }, t('nav.overview')))),
    load() {},
  };
}
