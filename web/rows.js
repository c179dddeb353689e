// Up and down in a table with the arrow keys, from link to link.

export function arrowKeys(body) {
  body.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest('tr');
    if (!step || !row) return;
    const target = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    const same = event.target.matches('input') ? 'input' : 'a';
    const next = target?.querySelector(same);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
