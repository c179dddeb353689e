// Light or dark: as the system says, until somebody presses the switch.

const KEY = 'errand.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function systemTheme() {
  return system.matches ? 'dark' : 'light';
}

export function currentTheme() {
  return document.documentElement.dataset.theme ?? systemTheme();
}

export function applyTheme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === 'light' || chosen === 'dark') {
    document.documentElement.dataset.theme = chosen;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

/** Back to what the system says means: follow the system again. */
export function switchTheme() {
  const next = currentTheme() === 'dark' ? 'light' : 'dark';
  if (next === systemTheme()) {
    localStorage.removeItem(KEY);
  } else {
    localStorage.setItem(KEY, next);
  }
  applyTheme();
}
