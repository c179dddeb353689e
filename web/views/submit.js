// A form for one task.

import { get, post } from '../api.js';
import { h, replace, setText } from '../dom.js';
import { oneLine, visible } from '../format.js';
import { t } from '../i18n.js';
import { indentJson, parseJsonSource } from '../json_source.js';
import { tell } from '../notices.js';
import { emptyState, pageHead } from '../parts.js';
import { go } from '../router.js';
import { currentSession, mayChange } from '../session.js';

/** Of the types that every worker knows. */
const EXAMPLES = {
  'errand.echo': '{"hello": "world"}',
  'errand.sleep': '{"ms": 5000}',
  'errand.fail': '{"message": "on purpose"}',
};

const LONGEST_LINE = 20_000;

/** What was typed survives a change of the language, or a look at another page: {from, values}. */
let draft = null;

/** The same form sent twice is one task. */
function idempotencyKey() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `dashboard-${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Where it stops to be JSON, as line and column; null if it does not. */
function jsonProblem(text) {
  try {
    parseJsonSource(text);
    return null;
  } catch (error) {
    const before = text.slice(0, error.at).split('\n');
    return t('submit.notJsonAt', { line: before.length, column: before.at(-1).length + 1 });
  }
}

export function submitView({ query }) {
  if (!mayChange()) {
    return { title: t('nav.submit'), element: h('div', {}, pageHead(t('nav.submit')), emptyState(t('session.reader'), t('session.readerHint'))), load() {} };
  }
  let key = idempotencyKey();
  const { types } = currentSession();
  const suggestions = types.length ? types : Object.keys(EXAMPLES);
  const trouble = h('div', { class: 'form-error', role: 'alert', hidden: true });

  const input = (name, attributes = {}) => h('input', { id: `submit-${name}`, name, autocomplete: 'off', spellcheck: 'false', ...attributes });
  const type = input('type', { required: true, maxlength: 190, list: 'submit-types', placeholder: 'email.send' });
  const queue = input('queue', { maxlength: 190, placeholder: 'default' });
  const delay = input('delay', { placeholder: '30s', pattern: '\\d+(\\.\\d+)?(ms|s|m|h|d)?', title: t('submit.durationHint') });
  const priority = input('priority', { type: 'number', min: -32768, max: 32767, placeholder: '0' });
  const maxRetries = input('maxRetries', { type: 'number', min: 0, max: 1000000, placeholder: '3' });
  const retryDelay = input('retryDelay', { placeholder: '1s', pattern: '\\d+(\\.\\d+)?(ms|s|m|h|d)?', title: t('submit.durationHint') });
  const payload = h('textarea', { id: 'submit-payload', name: 'payload', rows: 14, spellcheck: 'false', 'aria-describedby': 'payload-error' });
  const payloadError = h('p', { class: 'field-error', id: 'payload-error', 'aria-live': 'polite' });
  const send = h('button', { class: 'primary' }, t('submit.send'));
  const fields = { type, queue, delay, priority, maxRetries, retryDelay, payload };

  const checkPayload = () => {
    const problem = payload.value.trim() ? jsonProblem(payload.value) : null;
    payloadError.textContent = problem ?? '';
    payload.setAttribute('aria-invalid', String(problem !== null));
    return problem === null;
  };
  payload.addEventListener('input', () => {
    if (payload.getAttribute('aria-invalid') === 'true') checkPayload();
  });
  payload.addEventListener('blur', checkPayload);
  const showExample = () => {
    payload.placeholder = Object.hasOwn(EXAMPLES, type.value) ? EXAMPLES[type.value] : '{}';
  };
  type.addEventListener('input', showExample);
  showExample();

  /** The payload goes as it was typed: numbers keep their digits. */
  const bodyText = () => {
    const members = { type: type.value.trim() };
    if (queue.value.trim()) members.queue = queue.value.trim();
    if (delay.value.trim()) members.delay = asDuration(delay.value);
    if (priority.value) members.priority = Number(priority.value);
    if (maxRetries.value) members.maxRetries = Number(maxRetries.value);
    if (retryDelay.value.trim()) members.retryDelay = asDuration(retryDelay.value);
    return `${JSON.stringify(members).slice(0, -1)},"payload":${payload.value.trim() || '{}'}}`;
  };

  const submit = async (event) => {
    event.preventDefault();
    if (!checkPayload()) {
      payload.focus();
      return;
    }
    send.disabled = true;
    trouble.hidden = true;
    try {
      const task = await post('/api/tasks', bodyText(), { headers: { 'Idempotency-Key': key } });
      form.reset();
      tell(t('submit.done'));
      go(`/tasks/${task.taskId}`);
    } catch (error) {
      if (error.status === 401) return;
      // The server refused this form; a corrected one is another task.
      if (error.status !== 0) key = idempotencyKey();
      replace(trouble, oneLine(error.status === 0 ? t('error.unreachable') : error.message));
      trouble.hidden = false;
    } finally {
      send.disabled = false;
    }
  };

  const shell = h('pre', { class: 'text shell-line', tabindex: '0' });
  const showShell = () => setText(shell, visible(shellLine(values()).slice(0, LONGEST_LINE)));

  const labelled = (element, hint) => h('div', { class: 'field' }, h('label', { for: element.id }, t(`submit.${element.name}`)), element, hint ? h('p', { class: 'muted hint' }, hint) : null);
  const form = h('form', { class: 'panel submit-form', onsubmit: submit, oninput: showShell, onchange: showShell },
    h('div', { class: 'field-row' }, labelled(type), labelled(queue)),
    h('datalist', { id: 'submit-types' }, suggestions.map((name) => h('option', { value: name }))),
    labelled(payload), payloadError,
    h('details', {}, h('summary', {}, t('submit.more')),
      h('div', { class: 'field-row' }, labelled(delay, t('submit.durationHint')), labelled(priority, t('submit.priorityHint'))),
      h('div', { class: 'field-row' }, labelled(maxRetries), labelled(retryDelay, t('submit.retryDelayHint')))),
    trouble,
    h('div', { class: 'form-actions' }, send));

  const values = () => Object.fromEntries(Object.entries(fields).map(([name, element]) => [name, element.value]));
  const restore = (saved) => {
    for (const [name, value] of Object.entries(saved)) fields[name].value = value;
  };

  return {
    title: t('nav.submit'),
    element: h('div', {}, pageHead(t('nav.submit')), h('div', { class: 'submit-columns' }, form,
      h('section', { class: 'panel' }, h('header', { class: 'panel-head' }, h('h2', {}, t('submit.shell'))), shell))),
    async load() {
      if (draft && draft.from === query.from) {
        restore(draft.values);
      } else if (query.from) {
        try {
          const task = await get(`/api/tasks/${encodeURIComponent(query.from)}`);
          restore({ type: task.type ?? '', queue: task.queue ?? '', payload: pretty(task.payload ?? ''), priority: task.priority || '', maxRetries: task.maxRetries });
        } catch (error) {
          replace(trouble, oneLine(error.message));
          trouble.hidden = false;
        }
      }
      showShell();
    },
    close() {
      const typed = values();
      draft = Object.values(typed).some(Boolean) ? { from: query.from, values: typed } : null;
    },
  };
}

function asDuration(text) {
  const trimmed = text.trim();
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** As one would type it. */
function shellLine({ type, queue, payload, delay, priority, maxRetries, retryDelay }) {
  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const parts = [`errand submit ${quoted(type.trim() || 'TYPE')}`];
  if (payload.trim()) parts.push(quoted(payload.trim()));
  const options = { '--queue': queue, '--delay': delay, '--priority': priority, '--max-retries': maxRetries, '--retry-delay': retryDelay };
  for (const [name, value] of Object.entries(options)) if (value.trim()) parts.push(`${name} ${quoted(value.trim())}`);
  return parts.join(' \\\n  ');
}

function pretty(source) {
  try {
    return indentJson(parseJsonSource(source));
  } catch {
    return source;
  }
}
