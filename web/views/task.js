// One task: what it is, what became of it, its documents, and what can be done about it.

import { get, post, remove } from '../api.js';
import { ask } from '../dialog.js';
import { h, replace } from '../dom.js';
import { duration, liveTime, number, shortId } from '../format.js';
import { t } from '../i18n.js';
import { copyButton, documentPanel } from '../json_tree.js';
import { attempt, tell } from '../notices.js';
import { emptyState, errorState, foreign, meter, pageHead, progressText, statusBadge } from '../parts.js';
import { go } from '../router.js';
import { mayChange } from '../session.js';
import { throttle } from '../throttle.js';
import { errorDetails, parseError } from './error_details.js';
import { timeline } from './timeline.js';

const ENDED = ['completed', 'failed', 'cancelled'];

function fact(name, ...value) {
  return h('div', {}, h('dt', {}, t(name)), h('dd', {}, value));
}

function facts(task) {
  const waited = task.startedAt ? Date.parse(task.startedAt) - Date.parse(task.submittedAt) : null;
  const took = task.startedAt && task.completedAt ? Date.parse(task.completedAt) - Date.parse(task.startedAt) : null;
  return h('dl', { class: 'facts panel' },
    fact('task.queue', task.queue ? h('a', { href: `/tasks?${new URLSearchParams({ queue: task.queue })}` }, foreign(task.queue)) : '–'),
    fact('task.submitted', liveTime('ago', task.submittedAt)),
    waited !== null && task.attempts <= 1 ? fact('task.waited', h('span', { class: 'number' }, duration(waited))) : null,
    took !== null ? fact('task.took', h('span', { class: 'number' }, duration(took))) : null,
    fact('task.attempts', h('span', { class: 'number' }, t('task.attemptsOf', { n: number(task.attempts), most: number(task.maxRetries + 1) }))),
    task.priority ? fact('task.priority', h('span', { class: 'number' }, number(task.priority))) : null,
    task.crashes ? fact('task.crashes', h('span', { class: 'number' }, number(task.crashes))) : null,
    task.worker ? fact('task.worker', foreign(task.worker)) : null);
}

function progressPanel({ done, total, note }) {
  const bar = meter(done, total, 'running');
  return h('section', { class: 'panel progress', role: 'group', 'aria-label': t('task.progress') },
    total > 0 ? bar.element : null, foreign(progressText({ done, total, note }), 'number'));
}

function headersPanel(headers) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return null;
  return h('section', { class: 'panel' }, h('header', { class: 'panel-head' }, h('h2', {}, t('task.headers'))),
    h('dl', { class: 'headers' }, entries.map(([name, value]) =>
      h('div', {}, h('dt', {}, foreign(name)), h('dd', {}, foreign(value))))));
}

function errorPanel(text) {
  const error = parseError(text);
  if (!error) return documentPanel(t('task.error'), text);
  return h('section', { class: 'panel error-panel' },
    h('header', { class: 'panel-head' }, h('h2', {}, t('task.error')), h('span', { class: 'spring' }), copyButton(text)),
    errorDetails(error));
}

export function taskView({ parameters: [id] }) {
  const head = h('div');
  const place = h('div');
  const element = h('div', { class: 'task' }, head, place);
  let shown = null;
  let lastTask = null;
  let served;  // whether a worker serves its queue; undefined while that is not known

  const retry = () => attempt(async () => {
    await post(`/api/tasks/${id}/retry`);
    tell(t('task.retried'));
    await load();
  });
  const cancel = () => attempt(async () => {
    const { outcome } = await post(`/api/tasks/${id}/cancel`);
    tell(t(`task.cancel.${outcome}`));
    await load();
  });
  const discard = async () => {
    const agreed = await ask({ title: t('task.deleteTitle'), text: t('task.deleteText'), action: t('task.delete'), danger: true });
    if (!agreed) return;
    await attempt(async () => {
      await remove(`/api/tasks/${id}`);
      tell(t('task.deleted'));
      go('/tasks');
    });
  };

  const actions = (task) => {
    if (!mayChange()) return [];
    const again = task.payload !== undefined && task.type ? h('a', { class: 'button quiet', href: `/submit?from=${task.taskId}` }, t('task.copy')) : null;
    if (ENDED.includes(task.status)) {
      return [again, h('button', { class: 'quiet danger-text', onclick: discard }, t('task.delete')),
        task.status === 'completed' ? null : h('button', { class: 'primary', onclick: retry }, t('task.retry'))];
    }
    return [again, task.cancelRequested ? h('span', { class: 'muted' }, t('task.stopping')) : h('button', { onclick: cancel }, t('task.cancel'))];
  };

  const show = (task) => {
    const text = JSON.stringify([task, served]);
    if (text === shown) return;
    const documentsChanged = ['payload', 'result', 'error', 'headers'].some((key) => JSON.stringify(task[key]) !== JSON.stringify(lastTask?.[key]));
    shown = text;
    const focused = element.contains(document.activeElement) ? document.activeElement.textContent : null;
    replace(head,
      h('nav', { class: 'crumbs', 'aria-label': t('nav.crumbs') }, h('a', { href: '/tasks' }, t('nav.tasks')), ' / ', h('span', { class: 'id' }, id), copyButton(id)),
      h('div', { class: 'page-head' }, h('h1', { tabindex: '-1' }, foreign(task.type ?? t('task.untyped'))), statusBadge(task.status),
        task.expired ? h('span', { class: 'pill' }, t('task.expired')) : null,
        h('span', { class: 'spring' }), actions(task)));
    const documents = documentsChanged || !lastTask ? h('div', { class: 'documents' },
      task.error ? errorPanel(task.error) : null,
      task.result !== undefined ? documentPanel(t('task.result'), task.result) : null,
      task.payload !== undefined ? documentPanel(t('task.payload'), task.payload) : null,
      headersPanel(task.headers ?? {})) : place.querySelector('.documents');
    replace(place, facts(task), task.progress ? progressPanel(task.progress) : null,
      h('div', { class: 'task-columns' }, documents,
        h('section', { class: 'panel timeline-panel' }, h('header', { class: 'panel-head' }, h('h2', {}, t('task.timeline'))), timeline(task, served))));
    lastTask = task;
    if (focused) [...head.querySelectorAll('button, a, h1')].find((node) => node.textContent === focused)?.focus();
  };

  async function load() {
    try {
      show(await get(`/api/tasks/${encodeURIComponent(id)}`));
    } catch (error) {
      shown = null;
      lastTask = null;
      replace(head, pageHead(t('nav.tasks')));
      replace(place, error.status === 404 || error.status === 400
        ? emptyState(t('task.unknown'), t('task.unknownHint'), h('a', { class: 'button', href: '/tasks' }, t('nav.tasks')))
        : errorState(error, load));
    }
  }
  const refresh = throttle(load, 250);

  return {
    title: t('task.title', { id: shortId(id) }),
    element,
    load,
    listen: /^[0-9a-f-]{36}$/i.test(id) ? { topics: 'stats,tasks', task: id } : undefined,
    onStats({ workers }) {
      if (!lastTask) return;
      served = workers.some(({ queues }) => queues.includes(lastTask.queue));
      show(lastTask);
    },
    onTasks: refresh,
    onRemoved: refresh,
    close: refresh.cancel,
  };
}
