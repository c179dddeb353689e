// What became of a task, moment by moment.

import { h } from '../dom.js';
import { duration, liveTime, moment, number, oneLine, serverNow } from '../format.js';
import { t } from '../i18n.js';
import { foreign } from '../parts.js';
import { errorDetails } from './error_details.js';

function entry(tone, title, iso, ...details) {
  return h('li', { class: `tone-${tone}` },
    h('div', { class: 'timeline-head' }, h('span', { class: 'timeline-title' }, title),
      iso ? h('time', { class: 'muted number', datetime: iso }, moment(iso)) : null),
    details);
}

function by(worker) {
  return worker ? h('p', { class: 'muted' }, t('timeline.by'), ' ', foreign(worker)) : null;
}

function between(from, to) {
  return from && to ? Date.parse(to) - Date.parse(from) : null;
}

/** `served`: whether a worker serves the task's queue; undefined while that is not known. */
export function timeline(task, served) {
  const entries = [entry('pending', t('timeline.submitted'), task.submittedAt)];
  // The last failure of a failed task is its end, below.
  const before = task.status === 'failed' ? (task.history ?? []).slice(0, -1) : task.history ?? [];
  for (const { attempt, at, worker, error } of before) {
    entries.push(entry('retrying', t('timeline.attemptFailed', { n: number(attempt ?? 0) }), at, by(worker),
      error ? h('details', { class: 'attempt-error' },
        h('summary', {}, h('bdi', { class: 'foreign' }, oneLine(String(error.message ?? error.class ?? '').slice(0, 300)))),
        errorDetails(error, { folded: true })) : null));
  }
  const took = between(task.startedAt, task.completedAt);
  const tookText = took === null ? null : h('p', { class: 'muted' }, t('timeline.took', { duration: duration(took) }));
  const startOf = () => entry('running', t('timeline.started', { n: number(task.attempts) }), task.startedAt, task.status === 'running' ? by(task.worker) : null);

  if (task.startedAt && task.attempts > 0 && ['running', 'completed', 'failed', 'cancelled'].includes(task.status)) entries.push(startOf());
  if (task.status === 'running') {
    entries.push(h('li', { class: 'tone-running ongoing' }, h('div', { class: 'timeline-head' },
      h('span', { class: 'timeline-title' }, t(task.cancelRequested ? 'timeline.stopping' : 'timeline.running')),
      h('span', { class: 'muted number' }, liveTime('since', task.startedAt)))));
  } else if (task.status === 'pending' || task.status === 'retrying') {
    const later = task.availableAt && Date.parse(task.availableAt) > serverNow();
    const again = task.attempts > 0 ? 'timeline.runsAgain' : 'timeline.runs';
    entries.push(h('li', { class: 'tone-pending ongoing' }, h('div', { class: 'timeline-head' },
      h('span', { class: 'timeline-title' }, later ? [t(again), ' ', liveTime('until', task.availableAt)] : t('timeline.waits')),
      later ? h('time', { class: 'muted number', datetime: task.availableAt }, moment(task.availableAt)) : null),
      served === false && task.queue ? h('p', { class: 'warning' }, t('timeline.unserved')) : null));
  } else {
    entries.push(entry(task.status, t(`timeline.${task.status}`), task.completedAt, tookText));
  }
  return h('ol', { class: 'timeline' }, entries);
}
