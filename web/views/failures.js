// Failures of one source: of which kinds, which ones, and what to do about many at once.

import { address, get, post } from '../api.js';
import { ask } from '../dialog.js';
import { h, replace, setText, showItems } from '../dom.js';
import { liveTime, number, oneLine, setLiveTime, visible } from '../format.js';
import { t } from '../i18n.js';
import { attempt, tell } from '../notices.js';
import { pageQuery, showPager } from '../pager.js';
import { emptyState, errorState, foreign, setForeign, table } from '../parts.js';
import { arrowKeys } from '../rows.js';
import { mayChange } from '../session.js';
import { throttle } from '../throttle.js';

const PAGE_SIZE = 50;
const GROUPS_AT_FIRST = 10;

/** `href`: where its failures are listed. `actions(latest)`: elements; latest() is the group as it is shown now. */
function groupRow(first, href, actions) {
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
  const { type, class: errorClass } = first;
  const element = h('tr', {},
    count,
    h('td', {}, h('a', { class: 'group-link', href }, message),
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

/** A source's row, with a box to choose it. */
function failureRow(first, source, selection) {
  const id = source.idOf(first);
  const box = mayChange() ? h('input', {
    type: 'checkbox', 'aria-label': t('failed.select', { id }),
    onchange: () => selection.set(id, box.checked),
  }) : null;
  const row = source.row(first, h('td', { class: 'check' }, box));
  return {
    element: row.element,
    update(item) {
      if (box) box.checked = selection.has(id);
      row.update(item);
    },
  };
}

/** The list of a source: see failure_sources.js. */
export function failures(source, firstQuery) {
  let query = firstQuery;
  let answer = null;
  let reading = 0;
  let failedTasks = null;
  let groupsShown = null;
  let allGroups = false;
  const selected = new Set();

  const filter = () => Object.fromEntries(source.filters.filter((name) => query[name]).map((name) => [name, query[name]]));
  const isFiltered = () => Object.keys(filter()).length > 0;
  const link = (place) => address('/failed', { ...source.base, ...filter(), ...place });

  const act = (verb, choice) => attempt(async () => {
    const result = await post(`/api/failed/${verb}`, { ...source.base, ...choice });
    selected.clear();
    tell(source.say(`done.${verb}`, { n: number(result.retried ?? result.removed) }));
    await load();
  });
  /** `counted`: {n, least}; least: n of them were counted, and there may be more. */
  const askAndAct = async (verb, choice, { n, least }, what) => {
    const texts = [what ? oneLine(what) : source.say(`askText.${verb}`, { n: number(n) })];
    if (least) texts.push(t(`failed.askMore.${verb}`));
    const agreed = await ask({
      title: least ? t(`failed.askLeast.${verb}`, { n: number(n) }) : source.say(`ask.${verb}`, { n: number(n) }), text: texts.join(' '),
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
    table('groups', [[source.say('count'), 'number count-cell'], [t('task.error')], [t('failed.last'), 'number last-cell'], [h('span', { class: 'unseen' }, t('actions')), 'actions']], groupBody, t('failed.groups')));
  const groupNote = h('p', { class: 'muted note' });
  const moreGroups = h('button', { class: 'quiet more-groups', onclick: () => {
    allGroups = !allGroups;
    showGroups(groupsShown);
  } });
  groupPlace.append(moreGroups, groupNote);

  const body = h('tbody');
  arrowKeys(body);
  const all = h('input', { type: 'checkbox', 'aria-label': t('failed.selectAll'), onchange: () => {
    for (const id of answer.items.map(source.idOf)) if (all.checked) selected.add(id); else selected.delete(id);
    show();
  } });
  // What the buttons stand for changes with the selection; they stay, and keep the focus.
  const chosen = () => (selected.size ? source.chosen([...selected]) : isFiltered() ? filter() : { all: true });
  const counted = () => (selected.size ? { n: selected.size } : { n: answer.total, least: source.mayHaveMore(query, failedTasks) });
  const chosenText = h('span');
  const chosenButtons = both(chosen, counted);
  const selectionBar = h('div', { class: 'selection', role: 'group', 'aria-label': t('failed.chosen') }, chosenText, h('span', { class: 'spring' }), chosenButtons);
  const list = h('section', { class: 'panel' }, selectionBar,
    table('failures', [[mayChange() ? all : h('span'), 'check'], ...source.columns()], body, t('nav.failed')));
  const place = h('div', { class: 'stack' });
  const pagerPlace = h('div');
  const filterPlace = h('div', { class: 'active-filters' });

  const showSelection = () => {
    const n = selected.size;
    const total = answer?.total ?? 0;
    all.checked = answer?.items.length > 0 && answer.items.every((item) => selected.has(source.idOf(item)));
    all.indeterminate = n > 0 && !all.checked;
    const text = n ? t('failed.selected', { n: number(n) })
      : source.mayHaveMore(query, failedTasks) ? t('failed.matchingLeast', { n: number(total) })
        : source.say(isFiltered() ? 'matching' : 'total', { n: number(total) });
    setText(chosenText, text);
    ['retry', 'remove'].forEach((verb, i) => {
      if (chosenButtons[i]) setText(chosenButtons[i], t(n ? `failed.${verb}` : `failed.all.${verb}`));
    });
  };

  const showFilter = () => replace(filterPlace, isFiltered() ? [
    Object.entries(filter()).map(([name, value]) => h('span', { class: 'pill filter' }, `${t(`filter.${name}`)}: `, foreign(value))),
    h('a', { class: 'button quiet', href: address('/failed', source.base) }, t('filter.clear')),
  ] : []);

  const show = () => {
    showItems(body, answer.items, source.idOf, (item) => failureRow(item, source, selection));
    showSelection();
    showPager(pagerPlace, answer, query, link);
  };

  const linkOf = (group) => address('/failed', { ...source.base, ...Object.fromEntries(source.filters.map((name) => [name, group[name]])) });
  const showGroups = (groups) => {
    groupsShown = groups;
    const { items, looked, total } = groups;
    const more = items.length - GROUPS_AT_FIRST;
    showItems(groupBody, allGroups ? items : items.slice(0, GROUPS_AT_FIRST), (group) => JSON.stringify([group.type, group.class, group.pattern]),
      (group) => groupRow(group, linkOf(group), (latest) => both(() => choiceOf(latest()), () => ({ n: latest().count, least: groupsShown.looked < groupsShown.total }), () => latest().message)));
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
        isFiltered() ? null : get('/api/failed/groups', source.base),
        get('/api/failed', { ...source.base, ...filter(), page_size: PAGE_SIZE, ...pageQuery(query) }),
      ]);
      if (turn !== reading) return;
      answer = newAnswer;
      if (groups) showGroups(groups);
      show();
      replace(place, answer.total === 0 && answer.items.length === 0
        ? emptyState(source.say(isFiltered() ? 'noneFound' : 'empty'), isFiltered() ? null : source.say('emptyHint'))
        : [groups && groups.items.length ? groupPlace : null, list]);
      pagerPlace.hidden = answer.total === 0;
    } catch (error) {
      if (turn === reading && !quiet) replace(place, errorState(error, () => load()));
    }
  }
  const refresh = throttle(() => load(true), source.seldom ? 15_000 : 2000);

  return {
    element: h('div', {}, filterPlace, place, pagerPlace),
    load: () => load(),
    update(newQuery) {
      query = newQuery;
      selected.clear();
      scrollTo(0, 0);
      load();
    },
    onStats(sample) {
      const changed = failedTasks !== null && sample.tasks.failed !== failedTasks;
      failedTasks = sample.tasks.failed;
      if (changed || source.seldom) refresh();
      if (answer) showSelection();
    },
    close: refresh.cancel,
  };
}
