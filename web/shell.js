// What surrounds the views: navigation, the state of the connection, language, theme.

import { h, replace, setText, svg } from './dom.js';
import { number } from './format.js';
import { currentLanguage, otherLanguage, t } from './i18n.js';
import { currentTheme } from './theme.js';

const PAGES = [
  ['overview', '/'],
  ['tasks', '/tasks'],
  ['failed', '/failed'],
  ['queues', '/queues'],
  ['workers', '/workers'],
];

let connection = 'lost';
let failed = 0;
let parts = {};

function themeIcon() {
  const sun = 'M12 7a5 5 0 1 0 0 10a5 5 0 0 0 0-10M12 1.5v2.5M12 20v2.5M1.5 12h2.5M20 12h2.5M4.6 4.6l1.7 1.7M17.7 17.7l1.7 1.7M4.6 19.4l1.7-1.7M17.7 6.3l1.7-1.7';
  const moon = 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z';
  return svg('svg', { viewBox: '0 0 24 24', width: 17, height: 17, 'aria-hidden': 'true', class: 'icon' },
    svg('path', { d: currentTheme() === 'dark' ? sun : moon }));
}

/** `session` is null while nobody is signed in. */
export function drawShell({ session, onLanguage, onTheme, onSignOut }) {
  document.documentElement.lang = currentLanguage() === 'zh' ? 'zh-CN' : 'en';
  const badge = h('span', { class: 'nav-badge', hidden: true });
  const live = h('span', { class: 'live', role: 'status' });
  const links = session ? PAGES.map(([name, href]) =>
    h('a', { href, 'data-page': name }, t(`nav.${name}`), name === 'failed' ? badge : null)) : [];
  parts = { badge, live, links };
  const other = otherLanguage();

  replace(document.getElementById('header'),
    h('a', { class: 'skip', href: '#main', onclick: (event) => {
      event.preventDefault();
      document.getElementById('main').focus();
    } }, t('nav.skip')),
    h('div', { class: 'bar' },
      h('a', { class: 'brand', href: '/' }, h('img', { src: '/icon.svg', alt: '', width: 24, height: 24 }), 'Errand'),
      h('nav', { 'aria-label': t('nav.label') }, links),
      h('span', { class: 'spring' }),
      session ? live : null,
      session?.role === 'reader' ? h('span', { class: 'pill' }, t('session.reader')) : null,
      session?.role === 'operator' ? h('a', { class: 'button primary', href: '/submit', 'data-page': 'submit' }, t('nav.submit')) : null,
      h('button', { class: 'quiet', id: 'language', lang: other === 'zh' ? 'zh-CN' : 'en', onclick: onLanguage }, other === 'zh' ? '中文' : 'English'),
      h('button', { class: 'quiet icon-button', id: 'theme', 'aria-label': t(currentTheme() === 'dark' ? 'theme.light' : 'theme.dark'), title: t(currentTheme() === 'dark' ? 'theme.light' : 'theme.dark'), onclick: onTheme }, themeIcon()),
      session?.tokenRequired ? h('button', { class: 'quiet', id: 'sign-out', onclick: onSignOut }, t('session.signOut')) : null));
  replace(document.getElementById('footer'), session ? [
    h('span', {}, `Errand ${session.version}`), h('span', {}, t('footer.engine', { engine: session.engine })),
    h('a', { href: '/openapi.json' }, t('footer.api')), session.tokenRequired ? null : h('a', { href: '/metrics' }, t('footer.metrics')),  // a link sends no token
  ] : []);
  showConnection(connection);
  showFailed(failed);
}

export function showPage(name) {
  for (const link of document.querySelectorAll('#header [data-page]')) {
    if (link.dataset.page === name) {
      link.setAttribute('aria-current', 'page');
    } else {
      link.removeAttribute('aria-current');
    }
  }
}

export function showConnection(state) {
  connection = state;
  if (!parts.live) return;
  parts.live.classList.toggle('lost', state === 'lost');
  setText(parts.live, t(`live.${state}`));
}

export function showFailed(count) {
  failed = count;
  if (!parts.badge) return;
  parts.badge.hidden = count === 0;
  setText(parts.badge, number(count));
}
