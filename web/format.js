// Numbers, durations, moments and other people's text, for people to read.

import { h, setText } from './dom.js';
import { localeTag, t } from './i18n.js';

/** The server's clock minus ours: "3 s ago" is a matter of the server's time. */
let clockOffset = 0;
export function setServerTime(iso) {
  clockOffset = Date.parse(iso) - Date.now();
}
export function serverNow() {
  return Date.now() + clockOffset;
}

const formats = new Map();
function intl(kind, options) {
  const key = `${kind.name} ${localeTag()} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new kind(localeTag(), options));
  return formats.get(key);
}

export function number(value) {
  return intl(Intl.NumberFormat, {}).format(value);
}

/** Few digits: 1,234 · 56 · 7.8 · 0.12 */
export function rough(value) {
  const digits = value >= 10 ? 0 : value >= 1 ? 1 : 2;
  return intl(Intl.NumberFormat, { maximumFractionDigits: digits }).format(value);
}

/** 12 · 1.2k · 3.4M, for axes. */
export function compact(value) {
  return intl(Intl.NumberFormat, { notation: 'compact', maximumFractionDigits: 2 }).format(value);
}

export function perSecond(value) {
  return t('unit.perSecond', { n: rough(value) });
}

export function percent(value) {
  const digits = value > 0 && value < 0.1 ? 1 : 0;
  return intl(Intl.NumberFormat, { style: 'percent', maximumFractionDigits: digits }).format(value);
}

export function bytes(count) {
  if (count < 1024) return t('unit.B', { n: number(count) });
  if (count < 1024 * 1024) return t('unit.KiB', { n: rough(count / 1024) });
  return t('unit.MiB', { n: rough(count / 1024 / 1024) });
}

export function duration(milliseconds) {
  const ms = Math.max(0, milliseconds);
  if (ms < 1) return t('unit.ms', { n: rough(ms) });
  if (ms < 999.5) return t('unit.ms', { n: number(Math.round(ms)) });
  const seconds = ms / 1000;
  if (seconds < 59.95) return t('unit.s', { n: seconds < 9.995 ? fixed(seconds, 2) : fixed(seconds, 1) });
  return pair(seconds);
}

/** As short as it can be, for axes: 0 · 50 ms · 2.5 s · 20 min */
export function shortDuration(milliseconds) {
  if (milliseconds === 0) return '0';
  const [unit, size] = milliseconds < 1000 ? ['unit.ms', 1] : milliseconds < 120_000 ? ['unit.s', 1000]
    : milliseconds < 7_200_000 ? ['unit.min', 60_000] : ['unit.h', 3_600_000];
  return t(unit, { n: rough(milliseconds / size) });
}

function fixed(value, digits) {
  return intl(Intl.NumberFormat, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** Two units: 2 min 5 s · 3 h 10 min · 4 d 2 h */
function pair(seconds) {
  const whole = Math.round(seconds);
  const units = [
    ['unit.d', 86_400],
    ['unit.h', 3600],
    ['unit.min', 60],
    ['unit.s', 1],
  ];
  const first = units.findIndex(([, size]) => whole >= size);
  const [big, size] = units[first];
  const text = t(big, { n: number(Math.floor(whole / size)) });
  const below = units[first + 1];
  const left = below ? Math.floor((whole % size) / below[1]) : 0;
  return left ? `${text} ${t(below[0], { n: left })}` : text;
}

/** Whole seconds, for what changes before one's eyes. */
function calmDuration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? t('unit.s', { n: seconds }) : pair(seconds);
}

function ago(at) {
  const seconds = Math.max(0, Math.floor((serverNow() - at) / 1000));
  if (seconds < 1) return t('time.now');
  if (seconds < 86_400) {
    const [unit, size] = seconds < 60 ? ['unit.s', 1] : seconds < 3600 ? ['unit.min', 60] : ['unit.h', 3600];
    return t('time.ago', { duration: t(unit, { n: Math.floor(seconds / size) }) });
  }
  const year = new Date(at).getFullYear() === new Date(serverNow()).getFullYear() ? undefined : 'numeric';
  return intl(Intl.DateTimeFormat, { year, month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
}

export function moment(at) {
  return intl(Intl.DateTimeFormat, {
    year: 'numeric', month: 'short', day: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', fractionalSecondDigits: 3,
  }).format(new Date(at));
}

/** The time of day, for axes; with seconds if asked for. */
export function timeOfDay(at, { seconds = false } = {}) {
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  if (seconds) options.second = '2-digit';
  return intl(Intl.DateTimeFormat, options).format(at);
}

const LIVE = {
  ago: (at) => ago(at),
  since: (at) => calmDuration(serverNow() - at),
  until: (at) => (at > serverNow() ? t('time.in', { duration: calmDuration(at - serverNow() + 999) }) : t('time.now')),
};

/** A <time> that keeps itself up to date. kind: 'ago', 'since' or 'until'. */
export function liveTime(kind, iso) {
  const element = h('time', { 'data-live': kind });
  setLiveTime(element, iso);
  return element;
}

export function setLiveTime(element, iso) {
  if (element.getAttribute('datetime') !== iso) {
    element.setAttribute('datetime', iso);
    element.setAttribute('title', moment(iso));
  }
  tick(element);
}

function tick(element) {
  setText(element, LIVE[element.dataset.live](Date.parse(element.getAttribute('datetime'))));
}

export function startTicking() {
  setInterval(() => {
    if (!document.hidden) document.querySelectorAll('time[data-live]').forEach(tick);
  }, 1000);
}

// Characters that reorder or hide what stands beside them, and controls.
const TRICKY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Text of strangers: what cannot be seen is written out, so that nobody is shown another name. */
export function visible(text) {
  return String(text).replace(/\r\n/g, '\n').replace(TRICKY, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** visible() on one line. */
export function oneLine(text) {
  return visible(text).replace(/\s*[\n\t]\s*/g, ' ');
}

/** Its end: ids of one time begin alike. */
export function shortId(id) {
  return id.slice(-8);
}
