"""Charts as SVG, readable on light and dark pages."""

from html import escape

STYLE = """
  svg { font: 13px system-ui, sans-serif; }
  text { fill: #24292f; } .quiet { fill: #6e7781; } .ours { fill: #0969da; } .theirs { fill: #afb8c1; }
  .grid { stroke: #d0d7de; } .line { fill: none; stroke-width: 2; } .title { font-weight: 600; font-size: 15px; }
  .c0 { stroke: #0969da; fill: #0969da; } .c1 { stroke: #bf3989; fill: #bf3989; } .c2 { stroke: #1a7f37; fill: #1a7f37; }
  .c3 { stroke: #9a6700; fill: #9a6700; }
  .line { fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #8d96a0; } .ours { fill: #4493f8; } .theirs { fill: #545d68; }
    .grid { stroke: #3d444d; }
    .c0 { stroke: #4493f8; fill: #4493f8; } .c1 { stroke: #db61a2; fill: #db61a2; }
    .c2 { stroke: #3fb950; fill: #3fb950; } .c3 { stroke: #d29922; fill: #d29922; }
    .line { fill: none; }
  }
"""
WIDTH = 760


def bars(title, unit, rows):
    """rows: (label, value, is it Errand's). The longest bar is the greatest value."""
    left, bar, gap, top = max(190, 24 + 7 * max(len(label) for label, _, _ in rows)), 20, 8, 46
    most = max(value for _, value, _ in rows)
    room = WIDTH - left - 110
    parts = []
    for i, (label, value, ours) in enumerate(rows):
        y = top + i * (bar + gap)
        length = max(1.0, room * value / most)
        parts += [
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(label)}</text>',
            f'<rect class="{"ours" if ours else "theirs"}" x="{left}" y="{y}" '
            f'width="{length:.1f}" height="{bar}" rx="2"/>',
            f'<text class="quiet" x="{left + length + 6:.1f}" y="{y + 15}">{_number(value)}</text>',
        ]
    return _page(title, unit, top + len(rows) * (bar + gap) + 8, parts)


def lines(title, unit, labels, series, least=0.0):
    """series: name → values, one for each label, None where there is none."""
    left, top, height, right = 80, 60, 240, 130
    values = [value for row in series.values() for value in row if value is not None]
    most = max(values) * 1.05 or 1
    step = (WIDTH - left - right) / max(len(labels) - 1, 1)
    x = lambda i: left + i * step
    y = lambda value: top + height * (1 - (value - least) / (most - least))
    parts = []
    for i in range(5):
        value = least + (most - least) * i / 4
        parts += [f'<line class="grid" x1="{left}" x2="{WIDTH - right}" y1="{y(value):.1f}" '
                  f'y2="{y(value):.1f}"/>',
                  f'<text class="quiet" x="{left - 8}" y="{y(value) + 4:.1f}" '
                  f'text-anchor="end">{_number(value)}</text>']
    every = max(1, -(-len(labels) // 8))
    for i, label in enumerate(labels):
        if i % every == 0:
            parts.append(f'<text class="quiet" x="{x(i):.1f}" y="{top + height + 20}" '
                         f'text-anchor="middle">{escape(str(label))}</text>')
    for number, (name, row) in enumerate(series.items()):
        points = [(x(i), y(value)) for i, value in enumerate(row) if value is not None]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline class="line c{number % 4}" points="{path}"/>')
        if len(points) <= 20:
            parts += [f'<circle class="c{number % 4}" cx="{px:.1f}" cy="{py:.1f}" r="3"/>'
                      for px, py in points]
        parts.append(f'<text x="{WIDTH - right + 10}" y="{points[-1][1] + 4:.1f}">'
                     f'{escape(name)}</text>')
    return _page(title, unit, top + height + 40, parts)


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _page(title, unit, height, parts):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">\n'
            f"<style>{STYLE}</style>\n"
            f'<text class="title" x="16" y="24">{escape(title)}</text>'
            f'<text class="quiet" x="{WIDTH - 16}" y="24" text-anchor="end">{escape(unit)}</text>\n'
            f"{body}\n</svg>\n")
