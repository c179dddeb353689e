// The server wants a token.

import { h } from '../dom.js';
import { t } from '../i18n.js';

/** `error`: why the last token was refused, or null. `enter(token)`. */
export function tokenView(error, enter) {
  const input = h('input', {
    type: 'password', id: 'token', name: 'token', autocomplete: 'off', spellcheck: 'false', required: true, pattern: '[!-~]+', title: t('token.pattern'),
    'aria-describedby': 'token-hint', 'aria-invalid': error ? 'true' : null,
  });
  const element = h('form', { class: 'panel token', onsubmit: (event) => {
    event.preventDefault();
    if (input.value.trim()) enter(input.value.trim());
  } },
  h('h1', { tabindex: '-1' }, t('token.title')),
  h('p', { class: 'muted', id: 'token-hint' }, t('token.hint')),
  h('label', { for: 'token' }, t('token.label')), input,
  error ? h('p', { class: 'field-error', role: 'alert' }, t('token.wrong')) : null,
  h('button', { class: 'primary' }, t('token.enter')));
  return { title: t('token.title'), element };
}
