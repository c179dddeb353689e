// Questions before something is done that cannot be undone.

import { h } from './dom.js';
import { t } from './i18n.js';

/** Resolves to true if the person agreed. Escape and a click beside it mean no. */
export function ask({ title, text, action, danger = false }) {
  return new Promise((resolve) => {
    const dialog = h('dialog', { 'aria-labelledby': 'dialog-title' },
      h('form', { method: 'dialog' },
        h('h2', { id: 'dialog-title' }, title),
        text ? h('p', {}, text) : null,
        h('div', { class: 'dialog-actions' },
          h('button', { value: 'no', autofocus: danger }, t('dialog.cancel')),
          h('button', { value: 'yes', class: danger ? 'danger' : 'primary', autofocus: !danger }, action))));
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close('no');
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
