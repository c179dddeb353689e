// Failures: of which kinds, which ones, and what to do about many at once.

import { address, get, post } from '../api.js';
import { ask } from '../dialog.js';
import { h, replace, setText, showItems } from '../dom.js';
import { liveTime, number, oneLine, setLiveTime } from '../format.js';
import { t } from '../i18n.js';
import { attempt, tell } from '../notices.js';
import { pageQuery, showPager } from '../pager.js';
import { emptyState, errorState, foreign, pageHead, setForeign, table } from '../parts.js';
import { arrowKeys } from '../rows.js';
import { mayChange } from '../session.js';
import { throttle } from '../throttle.js';

const PAGE_SIZE = 50;
const FILTERS = ['type', 'queue', 'class', 'pattern'];

/** `actions(latest)`: elements; latest() is the group as it is shown now. */
function groupRow(first, actions) {
  let latest = first;
  const count = h('td', { class: 'number count-cell' });
  const message = foreign('', 'group-message');
  const last = liveTime('ago', first.lastFailedAt);
  const { type, class: errorClass, pattern } = first;
  const element = h('tr', {},
    count,
    h('td', {}, h('a', { class: 'group-link', href: address('/failed', { type, class: errorClass, pattern }) }, message),
      h('div', { class: 'muted group-kind' }, foreign(errorClass), ' · ', foreign(type))),
    h('td', { class: 'number' }, last),
    h('td', { class: 'actions' }, actions(() => latest)));
  return {
    element,
    update(group) {
      latest = group;
      setText(count, number(group.count));
      setForeign(message, group.message || t('error.noMessage'));
      setLiveTime(last, group.lastFailedAt);
    },
  };
}

function choiceOf({ type, class: errorClass, pattern }) {
  return { ...(type ? { type } : {}), ...(errorClass ? { class: errorClass } : {}), pattern };
}

function failureRow(first, selection) {
  const box = mayChange() ? h('input', {
    type: 'checkbox', 'aria-label': t('failed.select', { id: first.taskId }),
    onchange: () => selection.set(first.taskId, box.checked),
  }) : null;
  const when = liveTime('ago', first.completedAt ?? first.submittedAt);
  const attempts = h('td', { class: 'number' });
  const element = h('tr', { 'data-task': first.taskId },
    h('td', { class: 'check' }, box),
    h('td', {}, foreign(first.type ?? '–')),
    h('td', {}, h('a', { href: `/tasks/${first.taskId}` }, foreign(first.errorMessage || first.errorClass)),
      h('div', { class: 'muted' }, foreign(first.errorClass))),
    h('td', {}, foreign(first.queue ?? '–')),
    attempts, h('td', { class: 'number' }, when));
  return {
    element,
    update(task) {
      if (box) box.checked = selection.has(task.taskId);
      setText(attempts, number(task.attempts));
      setLiveTime(when, task.completedAt ?? task.submittedAt);
    },
  };
}

export function failedView({ query: firstQuery }) {
  let query = firstQuery;
  let answer = null;
  let reading = 0;
  let failedBefore = null;
  const selected = new Set();

  const filter = () => Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]));
  const isFiltered = () => Object.keys(filter()).length > 0;
  const link = (place) => address('/failed', { ...filter(), ...place });

  const act = (verb, choice) => attempt(async () => {
    const result = await post(`/api/failed/${verb}`, choice);
    selected.clear();
    tell(t(`failed.done.${verb}`, { n: number(result.retried ?? result.removed) }));
    await load();
  });
  const askAndAct = async (verb, choice, count, what) => {
    const agreed = await ask({
      title: t(`failed.ask.${verb}`, { n: number(count) }), text: what ? oneLine(what) : t(`failed.askText.${verb}`),
      action: t(`failed.${verb}`), danger: verb === 'remove',
    });
    if (agreed) await act(verb, choice);
  };
  const both = (choice, count, what, words = 'failed') => mayChange() ? [
    h('button', { onclick: () => askAndAct('retry', choice(), count(), what) }, t(`${words}.retry`)),
    h('button', { class: 'quiet danger-text', onclick: () => askAndAct('remove', choice(), count(), what) }, t(`${words}.remove`)),
  ] : [];

  const selection = {
    has: (id) => selected.has(id),
    set(id, on) {
      if (on) selected.add(id); else selected.delete(id);
      showSelection();
    },
  };

  const groupBody = h('tbody');
  const groupPlace = h('section', { class: 'panel' },
    h('header', { class: 'panel-head' }, h('h2', {}, t('failed.groups'))),
    table('groups', [[t('failed.count'), 'number count-cell'], [t('task.error')], [t('failed.last'), 'number'], [h('span', { class: 'unseen' }, t('actions')), 'actions']], groupBody, t('failed.groups')));
  const groupNote = h('p', { class: 'muted note' });
  groupPlace.append(groupNote);

  const body = h('tbody');
  arrowKeys(body);
  const all = h('input', { type: 'checkbox', 'aria-label': t('failed.selectAll'), onchange: () => {
    for (const { taskId } of answer.items) if (all.checked) selected.add(taskId); else selected.delete(taskId);
    show();
  } });
  const selectionBar = h('div', { class: 'selection', role: 'group', 'aria-label': t('failed.chosen') });
  const list = h('section', { class: 'panel' }, selectionBar,
    table('failures', [[mayChange() ? all : h('span'), 'check'], [t('task.type')], [t('task.error')], [t('task.queue')], [t('task.attempts'), 'number'], [t('failed.when'), 'number']], body, t('nav.failed')));
  const place = h('div', { class: 'stack' });
  const pagerPlace = h('div');
  const filterPlace = h('div', { class: 'active-filters' });

  const showSelection = () => {
    const n = selected.size;
    const total = answer?.total ?? 0;
    all.checked = answer?.items.length > 0 && answer.items.every(({ taskId }) => selected.has(taskId));
    all.indeterminate = n > 0 && !all.checked;
    replace(selectionBar,
      h('span', {}, n ? t('failed.selected', { n: number(n) }) : t(isFiltered() ? 'failed.matching' : 'failed.total', { n: number(total) })),
      h('span', { class: 'spring' }),
      n ? both(() => ({ taskIds: [...selected] }), () => selected.size)
        : both(() => (isFiltered() ? filter() : { all: true }), () => total, null, 'failed.all'));
  };

  const showFilter = () => replace(filterPlace, isFiltered() ? [
    Object.entries(filter()).map(([name, value]) => h('span', { class: 'pill filter' }, `${t(`filter.${name}`)}: `, foreign(value))),
    h('a', { class: 'button quiet', href: '/failed' }, t('filter.clear')),
  ] : []);

  const show = () => {
    showItems(body, answer.items, (task) => task.taskId, (task) => failureRow(task, selection));
    showSelection();
    showPager(pagerPlace, answer, query, link);
  };

  const showGroups = ({ items, looked, total }) => {
    showItems(groupBody, items, (group) => JSON.stringify([group.type, group.class, group.pattern]),
      (group) => groupRow(group, (latest) => both(() => choiceOf(latest()), () => latest().count, group.message)));
    setText(groupNote, looked < total ? t('failed.looked', { n: number(looked) }) : '');
    groupNote.hidden = looked >= total;
  };

  async function load(quiet = false) {
    const turn = ++reading;
    showFilter();
    try {
      const [groups, newAnswer] = await Promise.all([
        isFiltered() ? null : get('/api/failed/groups'),
        get('/api/failed', { ...filter(), page_size: PAGE_SIZE, ...pageQuery(query) }),
      ]);
      if (turn !== reading) return;
      answer = newAnswer;
      if (groups) showGroups(groups);
      show();
      replace(place, answer.total === 0 && answer.items.length === 0
        ? emptyState(t(isFiltered() ? 'failed.noneFound' : 'failed.empty'), isFiltered() ? null : t('failed.emptyHint'))
        : [groups && groups.items.length ? groupPlace : null, list]);
      pagerPlace.hidden = answer.total === 0;
    } catch (error) {
      if (turn === reading && !quiet) replace(place, errorState(error, () => load()));
    }
  }
  const refresh = throttle(() => load(true), 2000);

  return {
    title: t('nav.failed'),
    element: h('div', {}, pageHead(t('nav.failed')), filterPlace, place, pagerPlace),
    load: () => load(),
    update(newQuery) {
      query = newQuery;
      selected.clear();
      scrollTo(0, 0);
      load();
    },
    onStats({ tasks }) {
      if (failedBefore !== null && tasks.failed !== failedBefore) refresh();
      failedBefore = tasks.failed;
    },
    close: refresh.cancel,
  };
}
