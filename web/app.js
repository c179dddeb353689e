// Puts it together: session, addresses, views, live changes.

import { hasToken, setToken, whenUnauthorized } from './api.js';
import { replace } from './dom.js';
import { EventStream } from './events.js';
import { startTicking } from './format.js';
import { chooseLanguage, otherLanguage } from './i18n.js';
import { errorState } from './parts.js';
import { currentRoute, startRouter } from './router.js';
import { currentSession, endSession, readSession } from './session.js';
import { drawShell, showConnection, showFailed, showPage } from './shell.js';
import { applyTheme, switchTheme } from './theme.js';
import { failedView } from './views/failed.js';
import { overviewView } from './views/overview.js';
import { queuesView } from './views/queues.js';
import { submitView } from './views/submit.js';
import { taskView } from './views/task.js';
import { tasksView } from './views/tasks.js';
import { tokenView } from './views/token.js';
import { unknownView } from './views/unknown.js';
import { workersView } from './views/workers.js';

const ROUTES = [
  [/^\/$/, 'overview'],
  [/^\/tasks$/, 'tasks'],
  [/^\/tasks\/([^/]+)$/, 'task'],
  [/^\/failed$/, 'failed'],
  [/^\/queues$/, 'queues'],
  [/^\/workers$/, 'workers'],
  [/^\/submit$/, 'submit'],
];

/**
 * A view is a function of the route. It returns {title, element, load()} and, if it wants to,
 * `listen` (a query of /api/events; stats by default), onStats(sample), onTasks(change),
 * onRemoved(change), update(query) for a new query on the same path, and close(). `more` in a change
 * says that others changed, too, which it does not name: whoever shows tasks reads them again.
 */
const VIEWS = {
  overview: overviewView,
  tasks: tasksView,
  task: taskView,
  failed: failedView,
  queues: queuesView,
  workers: workersView,
  submit: submitView,
  unknown: unknownView,
};

const main = document.getElementById('main');
let view = null;
let shownPath = null;

/** While a view reads for the first time, the page says so. */
async function load(shown) {
  main.setAttribute('aria-busy', 'true');
  try {
    await shown.load();
  } finally {
    if (view === shown) main.removeAttribute('aria-busy');
  }
}

const stream = new EventStream({
  onEvent(name, data) {
    if (name === 'stats') {
      showFailed(data.tasks.failed);
      view?.onStats?.(data);
    } else if (name === 'tasks') {
      view?.onTasks?.(data);
    } else if (name === 'removed') {
      view?.onRemoved?.(data);
    }
  },
  onState: showConnection,
  onGap: () => view?.load(),
});

function show(route) {
  if (view?.update && route.path === shownPath) {
    view.update(route.query);
    return;
  }
  view?.close?.();
  view = VIEWS[route.name](route);
  shownPath = route.path;
  replace(main, view.element);
  document.title = `${view.title} · Errand`;
  showPage(route.name);
  stream.listen(view.listen ?? { topics: 'stats' });
  load(view);
}

function showAndFocus(route) {
  const samePath = route.path === shownPath;
  show(route);
  if (samePath) return;
  scrollTo(0, 0);
  main.querySelector('h1')?.focus({ preventScroll: true });
}

function shell() {
  drawShell({
    session: currentSession(),
    onLanguage: () => {
      chooseLanguage(otherLanguage());
      again();
      document.getElementById('language').focus();
    },
    onTheme: () => {
      switchTheme();
      shell();
      showPage(currentRoute().name);
      document.getElementById('theme').focus();
    },
    onSignOut: () => {
      setToken(null);
      start();
    },
  });
}

/** The same view, made anew. */
function again() {
  if (currentSession() === null) {
    start();
    return;
  }
  shell();
  shownPath = null;
  show(currentRoute());
}

function askForToken(error) {
  view?.close?.();
  view = null;
  shownPath = null;
  stream.listen(null);
  endSession();
  shell();
  const asked = tokenView(error, async (token) => {
    setToken(token);
    await start();
  });
  document.title = `${asked.title} · Errand`;
  main.removeAttribute('aria-busy');
  replace(main, asked.element);
  asked.element.querySelector('input').focus();
}

async function start() {
  let session;
  try {
    session = await readSession();
  } catch (error) {
    if (error.status === 401) return;  // whenUnauthorized has asked for another token
    shell();
    main.removeAttribute('aria-busy');
    replace(main, errorState(error, start));
    return;
  }
  if (session.role === 'none') {
    askForToken(null);
    return;
  }
  again();
}

whenUnauthorized((error) => {
  const wrong = hasToken();
  setToken(null);
  askForToken(wrong ? error : null);
});
applyTheme();
startTicking();
startRouter(ROUTES, (route) => {
  if (view) showAndFocus(route);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', shell);
start();
