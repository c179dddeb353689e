// A worker: does it live, how busy is it, what does it run.

import { h, setClass, setText, showItems } from '../dom.js';
import { liveTime, number, serverNow, setLiveTime } from '../format.js';
import { t } from '../i18n.js';
import { foreign, meter, progressText, setForeign } from '../parts.js';

/** Heartbeats come every third of a lease, which is 15 s unless somebody chose otherwise. */
const LATE = 15_000;
const SHOWN_TASKS = { brief: 3, full: 20 };

function taskLine(first) {
  const progress = h('span', { class: 'muted foreign' });
  const elapsed = h('span', { class: 'number muted' });
  const bar = meter(0, 1, 'running');
  const element = h('li', {},
    h('a', { href: `/tasks/${first.taskId}` }, foreign(first.type ?? first.taskId)),
    bar.element, progress, elapsed);
  return {
    element,
    update(task) {
      bar.element.hidden = !(task.progress?.total > 0);
      if (task.progress) {
        bar.update(task.progress.done, task.progress.total);
        setForeign(progress, progressText(task.progress));
      }
      if (task.startedAt && !elapsed.firstChild) elapsed.append(liveTime('since', task.startedAt));
    },
  };
}

export function workerCard(first, { brief = false } = {}) {
  const seen = liveTime('ago', first.seenAt);
  const heart = h('span', { 'aria-hidden': 'true' });
  const busy = h('span', { class: 'number' });
  const bar = meter(0, 1, 'running');
  const handled = h('span', { class: 'number' });
  const failed = h('span', { class: 'number' });
  const tasks = h('ul', { class: 'worker-tasks' });
  const more = h('p', { class: 'muted' });
  const element = h('article', { class: 'worker' },
    h('header', {},
      heart,
      h('h3', {}, foreign(brief ? first.host : first.worker)),
      brief ? h('span', { class: 'muted number' }, String(first.pid)) : null,
      h('span', { class: 'spring' }),
      h('span', { class: 'muted' }, t('worker.seen'), ' ', seen)),
    h('dl', { class: 'facts' },
      h('div', {}, h('dt', {}, t('worker.busy')), h('dd', {}, bar.element, busy)),
      brief ? null : h('div', {}, h('dt', {}, t('worker.queues')), h('dd', {}, first.queues.map((name) => foreign(name, 'pill')))),
      h('div', {}, h('dt', {}, t('worker.handled')), h('dd', {}, handled)),
      h('div', {}, h('dt', {}, t('worker.failed')), h('dd', {}, failed)),
      brief ? null : h('div', {}, h('dt', {}, t('worker.up')), h('dd', {}, liveTime('since', first.startedAt)))),
    tasks, more);
  return {
    element,
    update(worker) {
      setLiveTime(seen, worker.seenAt);
      const late = serverNow() - Date.parse(worker.seenAt) > LATE;
      setClass(heart, `heart ${late ? 'late' : 'beats'}`);
      setText(busy, `${number(worker.running)} / ${number(worker.concurrency)}`);
      bar.update(worker.running, worker.concurrency);
      setText(handled, number(worker.handled));
      setText(failed, number(worker.failed));
      const limit = brief ? SHOWN_TASKS.brief : SHOWN_TASKS.full;
      showItems(tasks, worker.tasks.slice(0, limit), (task) => task.taskId, taskLine);
      more.hidden = worker.tasks.length <= limit;
      setText(more, t('worker.more', { n: number(worker.tasks.length - limit) }));
    },
  };
}
