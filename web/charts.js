// Line charts over time, as SVG. The legend is the readout: it shows the newest values, or those at
// the pointer or at the place the arrow keys chose.

import { h, replace, setText, svg } from './dom.js';
import { timeOfDay } from './format.js';
import { t } from './i18n.js';

const HEIGHT = 150;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 56 };

/** Points nearer to each other than this make a block of a curve. */
const LEAST_GAP = 4;

/**
 * `series`: [{label, tone, area}…]; `format(value)` for the readout, `axis(value)` for the axis;
 * `least`: the axis reaches to this at least. update(points, from, to) with points
 * [{at: milliseconds, values: [number | null…]}…], the oldest first.
 */
export function lineChart({ title, series, format, axis = format, least = 1 }) {
  const values = series.map(() => h('span', { class: 'chart-value' }, '–'));
  const when = h('span', { class: 'chart-when muted' });
  const legend = h('div', { class: 'chart-legend' },
    series.map(({ label, tone }, i) =>
      h('span', { class: `chart-key tone-${tone}` }, h('span', { class: 'chart-dot', 'aria-hidden': 'true' }), label, ' ', values[i])));
  const picture = svg('svg', { class: 'chart-picture', height: HEIGHT, role: 'img', tabindex: '0' });
  const element = h('figure', { class: 'panel chart' },
    h('figcaption', { class: 'chart-head' }, h('h2', {}, title), when, h('span', { class: 'spring' }), legend),
    picture);

  let all = [];
  let points = [];  // as many of them as there is room for
  let from = 0;
  let to = 1;
  let chosen = null;  // index of a point
  let scale = null;

  const readout = () => {
    const point = chosen === null ? all.at(-1) : points[chosen];
    values.forEach((node, i) => {
      const value = point?.values[i];
      setText(node, value === null || value === undefined ? '–' : format(value));
    });
    setText(when, chosen === null || !point ? '' : timeOfDay(point.at, { seconds: true }));
  };

  const draw = () => {
    const width = Math.max(240, picture.clientWidth || 480);
    points = thinned(all, from, to, (width - MARGIN.left - MARGIN.right) / LEAST_GAP);
    const known = points.flatMap((point) => point.values.filter((value) => value !== null));
    const top = niceTop(Math.max(least, ...known));
    const x = (at) => MARGIN.left + ((at - from) / (to - from)) * (width - MARGIN.left - MARGIN.right);
    const y = (value) => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
    scale = { x, y, width };
    picture.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    picture.setAttribute('aria-label', `${title}: ${series.map(({ label }, i) => `${label} ${values[i].textContent}`).join(', ')}`);
    replace(picture,
      known.length ? [0, 0.5, 1].map((part) => horizontal(top * part)) : horizontal(0),
      timeTicks(from, to, width).map(({ at, text, anchor }) =>
        svg('text', { class: 'chart-tick', x: x(at), y: HEIGHT - 5, 'text-anchor': anchor }, text)),
      series.map(({ tone, area }, i) => curve(i, tone, area, x, y)),
      known.length ? null : svg('text', { class: 'chart-empty', x: width / 2, y: HEIGHT / 2 - 4, 'text-anchor': 'middle' }, t('chart.empty')),
      cursor());

    function horizontal(value) {
      return [
        svg('line', { class: value === 0 ? 'chart-base' : 'chart-grid', x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
        known.length ? svg('text', { class: 'chart-tick', x: MARGIN.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, axis(value)) : null,
      ];
    }
  };

  const curve = (i, tone, area, x, y) => {
    const nodes = [];
    for (const run of runs(points, i)) {
      const line = run.map(({ at, values: at_ }, n) => `${n ? 'L' : 'M'}${x(at).toFixed(1)} ${y(at_[i]).toFixed(1)}`).join('');
      if (area && run.length > 1) {
        const close = `L${x(run.at(-1).at).toFixed(1)} ${y(0)}L${x(run[0].at).toFixed(1)} ${y(0)}Z`;
        nodes.push(svg('path', { class: `chart-area tone-${tone}`, d: line + close }));
      }
      nodes.push(run.length > 1
        ? svg('path', { class: `chart-line tone-${tone}`, d: line })
        : svg('circle', { class: `chart-point tone-${tone}`, cx: x(run[0].at), cy: y(run[0].values[i]), r: 2 }));
    }
    return nodes;
  };

  const cursor = () => {
    const point = chosen === null ? null : points[chosen];
    if (!point) return null;
    return [
      svg('line', { class: 'chart-cursor', x1: scale.x(point.at), x2: scale.x(point.at), y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }),
      series.map(({ tone }, i) => point.values[i] === null ? null
        : svg('circle', { class: `chart-point tone-${tone}`, cx: scale.x(point.at), cy: scale.y(point.values[i]), r: 3.5 })),
    ];
  };

  const choose = (index) => {
    if (index === chosen) return;
    chosen = index;
    readout();
    draw();
  };
  picture.addEventListener('pointermove', (event) => {
    if (!points.length || !scale) return;
    const at = event.clientX - picture.getBoundingClientRect().left;
    let nearest = 0;
    points.forEach((point, i) => {
      if (Math.abs(scale.x(point.at) - at) < Math.abs(scale.x(points[nearest].at) - at)) nearest = i;
    });
    choose(nearest);
  });
  picture.addEventListener('pointerleave', () => choose(null));
  picture.addEventListener('blur', () => choose(null));
  picture.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !points.length) return;
    event.preventDefault();
    choose(Math.min(points.length - 1, Math.max(0, (chosen ?? points.length) + step)));
  });
  new ResizeObserver(draw).observe(picture);

  return {
    element,
    update(newPoints, newFrom, newTo) {
      const at = chosen === null ? null : points[chosen]?.at;
      all = newPoints.filter((point) => point.at >= newFrom);
      [from, to] = [newFrom, newTo];
      chosen = null;
      draw();
      const again = at === null ? -1 : points.findIndex((point) => point.at >= at);
      if (again !== -1) chosen = again;
      readout();
      draw();
    },
  };
}

/** At most `most` points, each the mean of its part of the time; parts keep their place as time goes on. */
function thinned(points, from, to, most) {
  if (points.length <= most) return points;
  const step = (to - from) / most;
  const parts = Map.groupBy(points, ({ at }) => Math.floor(at / step));
  return [...parts.values()].map((part) => ({
    at: part.at(-1).at,
    values: part[0].values.map((_, i) => {
      const known = part.map(({ values }) => values[i]).filter((value) => value !== null);
      return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
    }),
  }));
}

/** Parts of the curve without gaps: a null, or a server that was away. */
function runs(points, i) {
  const usual = points.length > 1 ? (points.at(-1).at - points[0].at) / (points.length - 1) : Infinity;
  const found = [];
  let run = [];
  for (const point of points) {
    if (point.values[i] === null || (run.length && point.at - run.at(-1).at > usual * 5)) {
      if (run.length) found.push(run);
      run = [];
    }
    if (point.values[i] !== null) run.push(point);
  }
  if (run.length) found.push(run);
  return found;
}

/** The next of 1, 2, 4, 5, 10 · 10^n: halves of it are short numbers, too. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].find((step) => step * power >= value * 0.999) * power;
}

function timeTicks(from, to, width) {
  const span = to - from;
  const steps = [1, 2, 5, 10, 15, 20, 30, 60, 180, 360, 480].map((minutes) => minutes * 60_000);
  const step = steps.find((candidate) => span / candidate <= Math.max(4, width / 90)) ?? steps.at(-1);
  const zone = new Date(from).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) {
    ticks.push({ at, text: timeOfDay(at), anchor: at - from < span / 20 ? 'start' : to - at < span / 20 ? 'end' : 'middle' });
  }
  return ticks;
}

/** A word-sized chart without axes. */
export function sparkline(tone) {
  const [width, height] = [96, 22];
  const element = svg('svg', { class: `sparkline tone-${tone}`, width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
  return {
    element,
    update(values) {
      const top = Math.max(1, ...values);
      const x = (i) => 1 + (i / Math.max(1, values.length - 1)) * (width - 2);
      const y = (value) => height - 2 - (value / top) * (height - 5);
      const line = values.map((value, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
      replace(element, values.length < 2 ? null : [
        svg('path', { class: `chart-area tone-${tone}`, d: `${line}L${x(values.length - 1)} ${height - 1}L1 ${height - 1}Z` }),
        svg('path', { class: `chart-line tone-${tone}`, d: line }),
      ]);
    },
  };
}
