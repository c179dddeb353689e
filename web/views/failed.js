// Failures: of which kinds, which ones, and what to do about many at once.

import { address, get, post } from '../api.js';
import { ask } from '../dialog.js';
import { h, replace, setText, showItems } from '../dom.js';
import { liveTime, number, oneLine, setLiveTime, visible } from '../format.js';
import { t } from '../i18n.js';
import { attempt, tell } from '../notices.js';
import { pageQuery, showPager } from '../pager.js';
import { emptyState, errorState, foreign, pageHead, setForeign, table } from '../parts.js';
import { arrowKeys } from '../rows.js';
import { mayChange } from '../session.js';
import { throttle } from '../throttle.js';

const PAGE_SIZE = 50;
const GROUPS_AT_FIRST = 10;
const FILTERS = ['type', 'queue', 'class', 'pattern'];

/** `actions(latest)`: elements; latest() is the group as it is shown now. */
function groupRow(first, actions) {
  let latest = first;
  const count = h('td', { class: 'number count-cell' });
  const message = foreign('', 'group-message');
  const whole = h('pre', { class: 'text group-whole', hidden: true });
  const unfold = h('button', { class: 'link unfold', 'aria-expanded': 'false', onclick: () => {
    whole.hidden = !whole.hidden;
    unfold.setAttribute('aria-expanded', String(!whole.hidden));
    setText(unfold, t(whole.hidden ? 'failed.unfold' : 'failed.fold'));
  } }, t('failed.unfold'));
  const last = liveTime('ago', first.lastFailedAt);
  const { type, class: errorClass, pattern } = first;
  const element = h('tr', {},
    count,
    h('td', {}, h('a', { class: 'group-link', href: address('/failed', { type, class: errorClass, pattern }) }, message),
      h('div', { class: 'muted group-kind' }, foreign(errorClass), ' · ', foreign(type), unfold), whole),
    h('td', { class: 'number last-cell' }, last),
    h('td', { class: 'actions' }, actions(() => latest)));
  return {
    element,
    update(group) {
      latest = group;
      setText(count, number(group.count));
      setForeign(message, group.message || t('error.noMessage'));
      setText(whole, visible(group.message));
      requestAnimationFrame(() => { unfold.hidden = whole.hidden && message.scrollWidth <= message.clientWidth; });
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
  const attempts = h('td', { class: 'number attempts-cell' });
  const element = h('tr', { 'data-task': first.taskId },
    h('td', { class: 'check' }, box),
    h('td', { class: 'type-cell' }, foreign(first.type ?? '–')),
    h('td', {}, h('a', { href: `/tasks/${first.taskId}` }, foreign(first.errorMessage || first.errorClass)),
      h('div', { class: 'muted' }, foreign(first.errorClass))),
    h('td', { class: 'queue-cell' }, foreign(first.queue ?? '–')),
    attempts, h('td', { class: 'number submitted-cell' }, liveTime('ago', first.submittedAt)), h('td', { class: 'number' }, when));
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
  let groupsShown = null;
  let allGroups = false;
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
  /** `counted`: {n, least}; least: n of them were counted, and there may be more. */
  const askAndAct = async (verb, choice, { n, least }, what) => {
    const texts = [what ? oneLine(what) : t(`failed.askText.${verb}`, { n: number(n) })];
    if (least) texts.push(t(`failed.askMore.${verb}`));
    const agreed = await ask({
      title: t(`failed.${least ? 'askLeast' : 'ask'}.${verb}`, { n: number(n) }), text: texts.join(' '),
      action: t(`failed.${verb}`), danger: verb === 'remove',
    });
    if (agreed) await act(verb, choice);
  };
  const both = (choice, counted, what) => mayChange() ? [
    h('button', { onclick: () => askAndAct('retry', choice(), counted(), what?.()) }, t('failed.retry')),
    h('button', { class: 'quiet danger-text', onclick: () => askAndAct('remove', choice(), counted(), what?.()) }, t('failed.remove')),
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
    table('groups', [[t('failed.count'), 'number count-cell'], [t('task.error')], [t('failed.last'), 'number last-cell'], [h('span', { class: 'unseen' }, t('actions')), 'actions']], groupBody, t('failed.groups')));
  const groupNote = h('p', { class: 'muted note' });
  const moreGroups = h('button', { class: 'quiet more-groups', onclick: () => {
    allGroups = !allGroups;
    showGroups(groupsShown);
  } });
  groupPlace.append(moreGroups, groupNote);

  const body = h('tbody');
  arrowKeys(body);
  const all = h('input', { type: 'checkbox', 'aria-label': t('failed.selectAll'), onchange: () => {
    for (const { taskId } of answer.items) if (all.checked) selected.add(taskId); else selected.delete(taskId);
    show();
  } });
  // What the buttons stand for changes with the selection; they stay, and keep the focus.
  const chosen = () => (selected.size ? { taskIds: [...selected] } : isFiltered() ? filter() : { all: true });
  const counted = () => (selected.size ? { n: selected.size } : { n: answer.total, least: answer.truncated });
  const chosenText = h('span');
  const chosenButtons = both(chosen, counted);
  const selectionBar = h('div', { class: 'selection', role: 'group', 'aria-label': t('failed.chosen') }, chosenText, h('span', { class: 'spring' }), chosenButtons);
  const list = h('section', { class: 'panel' }, selectionBar,
    table('failures', [[mayChange() ? all : h('span'), 'check'], [t('task.type'), 'type-cell'], [t('task.error')], [t('task.queue'), 'queue-cell'], [t('task.attempts'), 'number attempts-cell'], [t('task.submitted'), 'number submitted-cell'], [t('failed.when'), 'number']], body, t('nav.failed')));
  const place = h('div', { class: 'stack' });
  const pagerPlace = h('div');
  const filterPlace = h('div', { class: 'active-filters' });

  const showSelection = () => {
    const n = selected.size;
    const total = answer?.total ?? 0;
    all.checked = answer?.items.length > 0 && answer.items.every(({ taskId }) => selected.has(taskId));
    all.indeterminate = n > 0 && !all.checked;
    const words = answer?.truncated ? 'failed.matchingLeast' : isFiltered() ? 'failed.matching' : 'failed.total';
    setText(chosenText, n ? t('failed.selected', { n: number(n) }) : t(words, { n: number(total), looked: number(answer?.looked ?? total) }));
    ['retry', 'remove'].forEach((verb, i) => {
      if (chosenButtons[i]) setText(chosenButtons[i], t(n ? `failed.${verb}` : `failed.all.${verb}`));
    });
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

  const showGroups = (groups) => {
    groupsShown = groups;
    const { items, looked, total } = groups;
    const more = items.length - GROUPS_AT_FIRST;
    showItems(groupBody, allGroups ? items : items.slice(0, GROUPS_AT_FIRST), (group) => JSON.stringify([group.type, group.class, group.pattern]),
      (group) => groupRow(group, (latest) => both(() => choiceOf(latest()), () => ({ n: latest().count, least: groupsShown.looked < groupsShown.total }), () => latest().message)));
    moreGroups.hidden = more <= 0;
    setText(moreGroups, allGroups ? t('failed.fewerGroups') : t('failed.moreGroups', { n: number(more) }));
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
