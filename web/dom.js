// The only place where elements are made. Text becomes text nodes and attributes are a fixed set of
// harmless ones, so that nothing a task contains can become markup, script or a foreign link.

const SVG = 'http://www.w3.org/2000/svg';

/** h('a', {href: '/tasks', class: 'row', onclick: f}, 'text', element, [more], null) */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) {
      element.addEventListener(key.slice(2), value);
    } else if (key === 'value') {
      element.value = value;
    } else if (key === 'href' && !/^(\/(?!\/)|#)/.test(value)) {
      throw new Error(`links lead to this server's own pages only, not to ${value}`);
    } else {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Children that stay where they are keep focus, selection and hover. */
export function replace(element, ...children) {
  const wanted = flat(children);
  const there = element.childNodes;
  if (wanted.length !== there.length || wanted.some((child, i) => child !== there[i])) element.replaceChildren(...wanted);
  return element;
}

/** Leaves a node alone that says the same already: selections and screen readers notice changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setClass(element, name) {
  if (element.getAttribute('class') !== name) element.setAttribute('class', name);
}

/**
 * Makes the children of `parent`, which has no others, show `items` in their order. An item that was there before keeps
 * its element, and with it focus and hover; the focus of one that goes passes to its neighbour. `create(item)` returns
 * {element, update(item)}.
 */
export function showItems(parent, items, keyOf, create) {
  const before = parent.shown ?? new Map();
  const after = new Map(items.map((item) => {
    const key = keyOf(item);
    const entry = before.get(key) ?? create(item);
    entry.update(item);
    return [key, entry];
  }));
  for (const [key, entry] of before) if (!after.has(key)) leave(entry.element);
  let place = parent.firstElementChild;
  for (const { element } of after.values()) {
    // An element that moves loses the focus: the others move around it.
    if (element.parentNode === parent && element.contains(document.activeElement)) {
      while (place !== element) {
        const next = place.nextElementSibling;
        element.after(place);
        place = next;
      }
    }
    if (element === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(element, place);
    }
  }
  parent.shown = after;
}

const FOCUSABLE = 'a[href], button, input';

function leave(element) {
  const neighbour = element.nextElementSibling ?? element.previousElementSibling;
  const at = [...element.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  element.remove();
  if (at === -1 || !neighbour) return;
  const places = neighbour.querySelectorAll(FOCUSABLE);
  (places[at] ?? places[0])?.focus();
}
