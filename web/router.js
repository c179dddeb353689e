// Addresses and views. Everything one would want to send to a colleague is in the address: the view,
// its filters, the page. Links are ordinary links.

let routes = [];
let onChange = () => {};

/** `table`: [[/^\/tasks\/([^/]+)$/, name]…]; `callback({name, parameters, path, query})`. */
export function startRouter(table, callback) {
  routes = table;
  onChange = callback;
  addEventListener('popstate', () => onChange(currentRoute()));
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !match(url.pathname)) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}

function match(path) {
  for (const [pattern, name] of routes) {
    const found = pattern.exec(path);
    if (found) return { name, parameters: found.slice(1).map(decode) };
  }
  return null;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function currentRoute() {
  const found = match(location.pathname) ?? { name: 'unknown', parameters: [] };
  return { ...found, path: location.pathname, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) replace = true;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  onChange(currentRoute());
}
