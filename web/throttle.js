// Reading again, not more often than sensible.

/**
 * Returns a function that calls `read` now, or when `gap` milliseconds have passed since it ended
 * the last time; calls meanwhile are one. cancel() forgets what is due.
 */
export function throttle(read, gap) {
  let timer = null;
  let busy = false;
  let due = false;
  let earliest = 0;

  const run = async () => {
    timer = null;
    busy = true;
    due = false;
    try {
      await read();
    } finally {
      busy = false;
      earliest = performance.now() + gap;
      if (due) schedule();
    }
  };
  const schedule = () => {
    if (timer === null) timer = setTimeout(run, Math.max(0, earliest - performance.now()));
  };
  const call = () => {
    if (busy) {
      due = true;
    } else {
      schedule();
    }
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = null;
    due = false;
  };
  return call;
}
