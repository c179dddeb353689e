// A JSON document, pretty-printed, folded where it is deep or long. Parts are made when they are
// unfolded: a document of megabytes costs what one sees of it.

import { h, replace } from './dom.js';
import { bytes, number, visible } from './format.js';
import { t } from './i18n.js';
import { parseJsonSource } from './json_source.js';

const OPEN_DEPTH = 2;
const OPEN_MEMBERS = 40;
const MEMBERS_AT_ONCE = 100;
const LONG_STRING = 1000;
const LONG_TEXT = 20_000;

/** A panel titled `title` with the document `source`, which may be anything. */
export function documentPanel(title, source) {
  const body = h('div', { class: 'document' });
  let raw = false;
  let tree = null;
  try {
    tree = parseJsonSource(source);
  } catch {
    raw = true;
  }
  const show = () => replace(body, raw ? longText(source, LONG_TEXT) : h('div', { class: 'json' }, valueLines(tree, 0, null, '')));
  const switchRaw = tree && h('button', { class: 'quiet', 'aria-pressed': 'false', onclick: (event) => {
    raw = !raw;
    event.currentTarget.setAttribute('aria-pressed', String(raw));
    show();
  } }, t('document.raw'));
  show();
  return h('section', { class: 'panel' },
    h('header', { class: 'panel-head' },
      h('h2', {}, title),
      h('span', { class: 'muted' }, bytes(new Blob([source]).size), tree ? null : ` · ${t('document.notJson')}`),
      h('span', { class: 'spring' }),
      switchRaw,
      copyButton(source)),
    body);
}

export function copyButton(text, label = t('copy')) {
  const button = h('button', { class: 'quiet', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = t('copied');
    } catch {
      button.textContent = t('copyFailed');
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}

/** Text that is shown in full on request only. */
export function longText(text, limit) {
  const pre = h('pre', { class: 'text', tabindex: '0' });
  if (text.length <= limit) return replace(pre, visible(text));
  const more = h('button', { class: 'link', onclick: () => replace(pre, visible(text)) },
    t('showAll', { n: number(text.length) }));
  return replace(pre, visible(text.slice(0, limit)), '… ', more);
}

/** `name`: of the member, or null; `comma` follows the value. */
function valueLines(node, depth, name, comma) {
  const isObject = node.kind === 'object';
  if (!isObject && node.kind !== 'array') {
    return h('div', { class: 'json-line' }, label(name), scalar(node), comma);
  }
  const [open, close] = isObject ? '{}' : '[]';
  const members = isObject ? node.entries : node.items.map((item) => [null, item]);
  if (members.length === 0) return h('div', { class: 'json-line' }, label(name), open + close + comma);

  const inside = h('div', { class: 'json-members' });
  const fold = h('details', { class: 'json-fold' },
    h('summary', {}, label(name), open,
      h('span', { class: 'json-folded' }, `… ${t('document.members', { n: number(members.length) })} ${close}${comma}`)),
    inside,
    h('div', { class: 'json-line' }, close + comma));
  let filled = false;
  const fillOnce = () => {
    if (filled || !fold.open) return;
    filled = true;
    appendMembers(inside, members, 0, depth + 1);
  };
  fold.addEventListener('toggle', fillOnce);
  fold.open = depth < OPEN_DEPTH && members.length <= OPEN_MEMBERS || depth === 0;
  fillOnce();
  return fold;
}

function appendMembers(parent, members, from, depth) {
  const until = Math.min(members.length, from + MEMBERS_AT_ONCE);
  for (let i = from; i < until; i += 1) {
    const [name, node] = members[i];
    parent.append(valueLines(node, depth, name, i + 1 < members.length ? ',' : ''));
  }
  if (until === members.length) return;
  const more = h('button', { class: 'link', onclick: () => {
    more.remove();
    appendMembers(parent, members, until, depth);
  } }, t('showMore', { n: number(members.length - until) }));
  parent.append(more);
}

function label(name) {
  if (name === null) return null;
  return [h('span', { class: 'json-name' }, visible(JSON.stringify(name))), ': '];
}

function scalar(node) {
  if (node.kind !== 'string') return h('span', { class: `json-${node.kind}` }, node.text);
  const text = JSON.stringify(node.text);
  const element = h('span', { class: 'json-string' });
  if (text.length <= LONG_STRING) return replace(element, visible(text));
  return replace(element, visible(text.slice(0, LONG_STRING)), '…" ',
    h('button', { class: 'link', onclick: () => replace(element, visible(text)) },
      t('showAll', { n: number(node.text.length) })));
}
