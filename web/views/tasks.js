// The list of tasks: filters and page are in the address, changes come by themselves.

import { address, get } from '../api.js';
import { h, replace, setText, showItems } from '../dom.js';
import { duration, liveTime, number, serverNow, setLiveTime, shortId } from '../format.js';
import { t } from '../i18n.js';
import { pageQuery, showPager } from '../pager.js';
import { emptyState, errorState, foreign, pageHead, setForeign, setStatus, statusBadge, STATUSES, table } from '../parts.js';
import { go } from '../router.js';
import { arrowKeys } from '../rows.js';
import { currentSession, mayChange } from '../session.js';
import { throttle } from '../throttle.js';

const PAGE_SIZE = 50;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function taskRow(first, isNew) {
  const badge = statusBadge(first.status);
  const type = foreign('');
  const queue = foreign('');
  const submitted = liveTime('ago', first.submittedAt);
  const took = h('td', { class: 'number took-cell' });
  const attempts = h('td', { class: 'number attempts-cell' });
  const element = h('tr', { 'data-task': first.taskId, class: isNew ? 'arrived' : null },
    h('td', { class: 'status-cell' }, badge),
    h('td', {}, h('a', { class: 'row-link', href: `/tasks/${first.taskId}` }, type)),
    h('td', { class: 'queue-cell' }, queue),
    h('td', { class: 'number submitted-cell' }, submitted),
    took, attempts,
    h('td', { class: 'id' }, shortId(first.taskId)));
  let version = null;
  return {
    element,
    /** Older news than what is shown are passed over. */
    update(task) {
      if (version !== null && (task.version ?? 0) < version) return;
      version = task.version ?? 0;
      setStatus(badge, task.status);
      setForeign(type, task.type ?? t('task.untyped'));
      setForeign(queue, task.queue ?? '–');
      setLiveTime(submitted, task.submittedAt);
      showTook(took, task);
      setText(attempts, number(task.attempts));
    },
    /** It was deleted; the row stays while somebody holds the list. */
    mark() {
      element.classList.add('gone');
      element.title = t('tasks.gone');
    },
  };
}

function showLive(cell, kind, iso) {
  const shown = cell.querySelector(`time[data-live=${kind}]`);
  if (shown) {
    setLiveTime(shown, iso);
  } else {
    replace(cell, liveTime(kind, iso));
  }
}

/** How long it ran, or runs by now; of one that waits for its time, when that is. */
function showTook(cell, { status, startedAt, completedAt, availableAt }) {
  if (status === 'running' && startedAt) {
    showLive(cell, 'since', startedAt);
  } else if ((status === 'pending' || status === 'retrying') && availableAt && Date.parse(availableAt) > serverNow()) {
    showLive(cell, 'until', availableAt);
  } else if (startedAt && completedAt) {
    setText(cell, duration(Date.parse(completedAt) - Date.parse(startedAt)));
  } else {
    setText(cell, '–');
  }
}

export function tasksView({ query: firstQuery }) {
  let query = firstQuery;
  let answer = null;
  let reading = 0;
  let asked = false; // for what is not shown yet: the newest reading has to show it, whoever began that one

  const link = (place) => {
    const { status, type, queue } = query;
    return address('/tasks', { status, type, queue, ...place });
  };
  const filtered = () => Boolean(query.status || query.type || query.queue);
  const chosen = () => new Set((query.status ?? '').split(',').filter((word) => STATUSES.includes(word)));
  const filter = (change) => {
    query = { ...query, ...change };
    go(link({}));
  };

  const counts = new Map();
  const chips = h('div', { class: 'chips', role: 'group', 'aria-label': t('filter.status') }, STATUSES.map((status) => {
    const count = h('span', { class: 'number muted' });
    counts.set(status, count);
    return h('button', { class: `chip tone-${status}`, 'data-status': status, onclick: () => {
      const statuses = chosen();
      if (!statuses.delete(status)) statuses.add(status);
      filter({ status: STATUSES.filter((word) => statuses.has(word)).join(',') });
    } }, t(`status.${status}`), ' ', count);
  }));
  const types = h('datalist', { id: 'known-types' });
  const queues = h('datalist', { id: 'known-queues' });
  const field = (name, list) => h('input', {
    name, list, type: 'search', spellcheck: 'false', autocomplete: 'off', 'aria-label': t(`filter.${name}`), placeholder: t(`filter.${name}`),
    onchange: (event) => filter({ [name]: event.target.value.trim() }),
  });
  const typeField = field('type', 'known-types');
  const queueField = field('queue', 'known-queues');
  const idField = h('input', {
    name: 'id', type: 'search', spellcheck: 'false', autocomplete: 'off', 'aria-label': t('filter.id'), placeholder: t('filter.id'),
    onchange: () => {
      const id = idField.value.trim();
      const known = UUID.test(id);
      idField.setCustomValidity(known || !id ? '' : t('filter.idWrong'));
      idField.reportValidity();
      if (known) go(`/tasks/${id.toLowerCase()}`);
    },
    oninput: () => idField.setCustomValidity(''),
  });
  const clear = h('button', { class: 'quiet', onclick: () => go('/tasks') }, t('filter.clear'));

  const body = h('tbody');
  arrowKeys(body);
  const place = h('div');
  const pagerPlace = h('div');
  const news = h('button', { class: 'news', hidden: true, onclick: () => read() }, t('tasks.news'));
  const frame = h('div', { class: 'panel' }, table('tasks', [[t('task.status'), 'status-cell'], [t('task.type')], [t('task.queue'), 'queue-cell'],
    [t('task.submitted'), 'number submitted-cell'], [t('task.took'), 'number took-cell'], [t('task.attempts'), 'number attempts-cell'], [t('task.id'), 'id']], body, t('nav.tasks')));

  const showFilters = () => {
    const statuses = chosen();
    for (const chip of chips.children) chip.setAttribute('aria-pressed', String(statuses.has(chip.dataset.status)));
    typeField.value = query.type ?? '';
    queueField.value = query.queue ?? '';
    clear.hidden = !filtered();
  };

  const show = (newAnswer, quiet) => {
    const known = new Set(answer?.items.map((task) => task.taskId));
    answer = newAnswer;
    showItems(body, answer.items, (task) => task.taskId, (task) => taskRow(task, quiet && !known.has(task.taskId)));
    const seen = new Set([...currentSession().types, ...answer.items.map((task) => task.type).filter(Boolean)]);
    showItems(types, [...seen].sort(), (type) => type, (type) => ({ element: h('option', { value: type }), update() {} }));
    if (answer.items.length) {
      replace(place, frame);
    } else if (filtered() || query.cursor || query.page) {
      replace(place, emptyState(t('tasks.noneFound'), t('tasks.noneFoundHint'), h('a', { class: 'button', href: '/tasks' }, t('filter.clear'))));
    } else {
      replace(place, emptyState(t('tasks.empty'), t('tasks.emptyHint'), mayChange() ? h('a', { class: 'button primary', href: '/submit' }, t('nav.submit')) : null));
    }
    showPager(pagerPlace, answer, query, link);
  };

  /** `quiet`: nobody asked; what is shown stays if it cannot be read. */
  async function read(quiet = false) {
    const turn = ++reading;
    asked ||= !quiet;
    const { status, type, queue } = query;
    try {
      const newAnswer = await get('/api/tasks', { status, type, queue, page_size: PAGE_SIZE, ...pageQuery(query) });
      if (turn !== reading) return;
      if (!asked && isHeld()) {
        showInPlace(newAnswer);
        return;
      }
      news.hidden = true;
      show(newAnswer, !asked);
      asked = false;
    } catch (error) {
      if (turn !== reading || !asked) return;
      asked = false;
      replace(place, errorState(error, () => read()));
    }
  }
  const refresh = throttle(() => read(true), 1000);

  /** Rows do not move under somebody's hand. */
  const isHeld = () => frame.matches(':hover') || frame.contains(document.activeElement);
  const showInPlace = ({ items }) => {
    for (const task of items) body.shown?.get(task.taskId)?.update(task);
    markDeleted(items);
    const same = items.length === answer?.items.length && items.every(({ taskId }, i) => taskId === answer.items[i].taskId);
    if (!same && !query.cursor && !query.page) news.hidden = false;
  };
  /**
   * What was deleted before the stream's first look is not told. With a filter a task may as well have left the list
   * alive, and a page by its number begins elsewhere when one before it is deleted.
   */
  const markDeleted = (items) => {
    if (filtered() || query.page || !answer) return;
    const there = new Set(items.map((task) => task.taskId));
    // What stands before a task that is still there was not pushed out by newer ones.
    const last = items.length < PAGE_SIZE ? answer.items.length : answer.items.findLastIndex((task) => there.has(task.taskId));
    for (const { taskId } of answer.items.slice(0, Math.max(last, 0))) {
      if (!there.has(taskId)) body.shown?.get(taskId)?.mark();
    }
  };
  frame.addEventListener('pointerleave', () => {
    if (!news.hidden || body.querySelector('.gone')) refresh();
  });

  let countsBefore = '';
  return {
    title: t('nav.tasks'),
    element: h('div', {}, pageHead(t('nav.tasks'), clear),
      h('div', { class: 'filters' }, chips, h('div', { class: 'fields' }, typeField, queueField, idField, types, queues)),
      h('div', { class: 'news-place' }, news), place, pagerPlace),
    listen: { topics: 'stats,tasks' },
    load() {
      showFilters();
      return read();
    },
    update(newQuery) {
      query = newQuery;
      showFilters();
      scrollTo(0, 0);
      read();
    },
    onStats({ tasks, queues: all }) {
      for (const [status, node] of counts) setText(node, number(tasks[status]));
      showItems(queues, all, (queue) => queue.queue, ({ queue }) => ({ element: h('option', { value: queue }), update() {} }));
      const now = JSON.stringify(tasks);
      if (countsBefore && now !== countsBefore) readOrTell();
      countsBefore = now;
    },
    onTasks({ items, more }) {
      let others = false;
      for (const task of items) {
        const row = body.shown?.get(task.taskId);
        if (row) {
          row.update(task);
        } else {
          others = true;
        }
      }
      // Which others changed is not said: those shown may be among them.
      if (more) {
        refresh();
      } else if (others) {
        readOrTell();
      }
    },
    onRemoved({ taskIds }) {
      for (const id of taskIds) body.shown?.get(id)?.mark();
      refresh();
    },
    close: refresh.cancel,
  };

  function readOrTell() {
    if (isHeld()) {
      if (!query.cursor && !query.page) news.hidden = false;
    } else {
      refresh();
    }
  }
}
