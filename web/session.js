// Who is looking, and at what: the answer of /api/session.

import { get } from './api.js';
import { setServerTime } from './format.js';

let session = null;

export async function readSession() {
  session = await get('/api/session');
  setServerTime(session.serverTime);
  return session;
}

export function endSession() {
  session = null;
}

export function currentSession() {
  return session;
}

/** Readers may look, operators may change. */
export function mayChange() {
  return session?.role === 'operator';
}
