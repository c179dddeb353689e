// Talks to /api. The token lives in sessionStorage: it ends with the tab and is never in a URL.

const KEY = 'errand.token';

/** Longer than any answer takes: nobody looks at a page that waits for ever. */
const PATIENCE = 30_000;

/** What the server, or the way to it, said instead of an answer. */
export class ApiError extends Error {
  /** `problem` is an RFC 9457 object; without one the server could not be reached. */
  constructor(problem) {
    super(problem?.detail ?? '');
    this.problem = problem ?? null;
    this.status = problem?.status ?? 0;
  }
}

export function setToken(token) {
  if (token) {
    sessionStorage.setItem(KEY, token);
  } else {
    sessionStorage.removeItem(KEY);
  }
}

export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

let onUnauthorized = () => {};
export function whenUnauthorized(callback) {
  onUnauthorized = callback;
}

/** A path below /api with a query; values that are empty are left out. */
export function address(path, query = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(key, value);
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/** A response with status 2xx; throws ApiError otherwise. `signal`: the response's body ends with it. */
export async function request(method, path, { body, headers = {}, signal } = {}) {
  const all = { ...headers };
  const token = sessionStorage.getItem(KEY);
  if (token) all.Authorization = `Bearer ${token}`;
  if (body !== undefined) all['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, { method, headers: all, body, signal, cache: 'no-store', redirect: 'error' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(null);
  }
  if (response.ok) return response;
  const error = new ApiError(await problemOf(response));
  if (response.status === 401) onUnauthorized(error);
  throw error;
}

async function problemOf(response) {
  try {
    return { status: response.status, ...(await response.json()) };
  } catch {
    return { status: response.status, title: response.statusText, detail: response.statusText };
  }
}

/** The whole answer, in time; one that stops on its way is as good as none. */
async function answer(method, path, options = {}) {
  try {
    const response = await request(method, path, { ...options, signal: AbortSignal.timeout(PATIENCE) });
    return await response.text();
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError(null);
  }
}

export async function get(path, query) {
  return JSON.parse(await answer('GET', address(path, query)));
}

/** `body`: an object, or JSON text. */
export async function post(path, body, options = {}) {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return JSON.parse(await answer('POST', path, { ...options, body: text }));
}

export async function remove(path) {
  await answer('DELETE', path);
}
