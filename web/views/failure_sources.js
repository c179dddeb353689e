// Where failures are kept: tasks in the storage, messages in a transport. Each says how to ask for
// them, how to show one, and what it is called.

import { get } from '../api.js';
import { h, replace, setText } from '../dom.js';
import { liveTime, number, setLiveTime } from '../format.js';
import { t } from '../i18n.js';
import { documentPanel } from '../json_tree.js';
import { errorState, foreign } from '../parts.js';
import { errorDetails } from './error_details.js';

/** The API looks through so many failures for what is inside their errors. */
const MOST_LOOKED_AT = 10_000;

const summary = ({ errorMessage, errorClass }) => foreign(errorMessage || errorClass);

/**
 * key: which source; base: the query that all requests and addresses have; filters: further ones; say(text, parts);
 * columns; idOf(item); chosen(ids); row(item, check) gives {element, update(item)}; mayHaveMore(query, failedTasks): whether
 * only the newest failures were counted; seldom: nothing tells of changes, so that it is read again now and then.
 */
export const tasks = {
  key: 'tasks',
  base: {},
  filters: ['type', 'queue', 'class', 'pattern'],
  seldom: false,
  say: (text, parts) => t(`failed.${text}`, parts),
  columns: () => [[t('task.type'), 'type-cell'], [t('task.error')], [t('task.queue'), 'queue-cell'], [t('task.attempts'), 'number attempts-cell'],
    [t('task.submitted'), 'number submitted-cell'], [t('failed.when'), 'number']],
  idOf: ({ taskId }) => taskId,
  chosen: (ids) => ({ taskIds: ids }),
  mayHaveMore: (query, failedTasks) => Boolean(query.class || query.pattern) && failedTasks > MOST_LOOKED_AT,
  row(first, check) {
    const when = liveTime('ago', first.completedAt ?? first.submittedAt);
    const attempts = h('td', { class: 'number attempts-cell' });
    const element = h('tr', { 'data-task': first.taskId },
      check,
      h('td', { class: 'type-cell' }, foreign(first.type ?? '–')),
      h('td', {}, h('a', { href: `/tasks/${first.taskId}` }, summary(first)), h('div', { class: 'muted' }, foreign(first.errorClass))),
      h('td', { class: 'queue-cell' }, foreign(first.queue ?? '–')),
      attempts, h('td', { class: 'number submitted-cell' }, liveTime('ago', first.submittedAt)), h('td', { class: 'number' }, when));
    return {
      element,
      update(task) {
        setText(attempts, number(task.attempts));
        setLiveTime(when, task.completedAt ?? task.submittedAt);
      },
    };
  },
};

export function messagesOf(transport) {
  const base = { kind: 'message', transport };
  return {
    key: `messages ${transport}`,
    base,
    filters: ['type', 'class'],
    seldom: true,
    say: (text, parts) => t(`messages.${text}`, parts),
    columns: () => [[t('task.type'), 'type-cell'], [t('task.error')], [t('messages.from'), 'queue-cell'], [t('failed.when'), 'number']],
    idOf: ({ id }) => id,
    chosen: (ids) => ({ ids }),
    mayHaveMore: () => false,
    row(first, check) {
      const whole = h('div', { class: 'message-whole' });
      const details = h('details', { class: 'message', ontoggle: async () => {
        if (!details.open || whole.firstChild) return;
        try {
          const { message, error } = await get(`/api/failed/${encodeURIComponent(first.id)}`, base);
          replace(whole, errorDetails(error, { folded: true }), documentPanel(t('task.payload'), message.body));
        } catch (error) {
          replace(whole, errorState(error));
        }
      } }, h('summary', {}, summary(first)), h('div', { class: 'muted' }, foreign(first.errorClass)), whole);
      return {
        element: h('tr', { 'data-message': first.id },
          check,
          h('td', { class: 'type-cell' }, foreign(first.type || '–')),
          h('td', {}, details),
          h('td', { class: 'queue-cell' }, foreign(first.transport || '–')),
          h('td', { class: 'number' }, liveTime('ago', first.failedAt))),
        update() {},  // a message does not change
      };
    },
  };
}
