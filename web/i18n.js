// The words of the page, in the language of the browser or the one that was chosen.

import en from './locales/en.js';
import zh from './locales/zh.js';

const LANGUAGES = { en, zh };
const KEY = 'errand.language';

let language = chosen() ?? preferred();

function chosen() {
  const stored = localStorage.getItem(KEY);
  return stored !== null && Object.hasOwn(LANGUAGES, stored) ? stored : null;
}

function preferred() {
  for (const tag of navigator.languages) {
    const base = tag.toLowerCase().split('-')[0];
    if (Object.hasOwn(LANGUAGES, base)) return base;
  }
  return 'en';
}

export function currentLanguage() {
  return language;
}

/** For Intl. English dates and numbers follow the browser's own kind of English. */
export function localeTag() {
  if (language === 'zh') return 'zh-CN';
  return navigator.languages.find((tag) => tag.toLowerCase().startsWith('en')) ?? 'en';
}

export function otherLanguage() {
  return language === 'en' ? 'zh' : 'en';
}

export function chooseLanguage(name) {
  language = name;
  localStorage.setItem(KEY, name);
}

/** The text with this name; {parts} of it come from `values`. */
export function t(name, values = {}) {
  const text = LANGUAGES[language][name];
  if (text === undefined) throw new Error(`no text is named ${name}`);
  const form = typeof text === 'function' ? text(values) : text;
  return form.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}
