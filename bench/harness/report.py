"""Tables of what was measured, for people and for the documents."""

import statistics

FIGURES = {
    "submit_seq": "submit, one caller",
    "submit_c50": "submit, 50 callers",
    "submit_bulk": "submit, 1,000 at a time",
    "drain": "drain a backlog",
    "send_bulk": "send messages, 1,000 at a time",
    "messages_drain": "drain messages",
    "start_p50_ms": "submit → start, p50",
    "e2e_p50_ms": "submit → result, p50",
}


def medians(runs):
    """runs: contestant → its figures, one dictionary a repetition."""
    return {name: {figure: statistics.median(run[figure] for run in repetitions)
                   for figure in repetitions[0]}
            for name, repetitions in runs.items()}


def show(figure, value):
    if value is None:
        return ""
    return f"{value:.2f} ms" if figure.endswith("_ms") else f"{value:,.0f}/s"


def figure_table(found):
    """Each contestant a row."""
    rows = [["", *FIGURES.values()]]
    for name, figures in found.items():
        rows.append([name, *(show(figure, figures.get(figure)) for figure in FIGURES)])
        limits = [show(figure, figures.get(f"limit_{figure}")) for figure in FIGURES]
        if any(limits):
            rows.append(["  bare client", *limits])
    return rows


def goal_table(goals, runs):
    """The ratio is that of the two figures shown."""
    rows = [["work", "Errand", "beside", "", "ratio", "from – to", "goal", ""]]
    for goal in goals:
        verdict = goal.judge(runs)
        wanted = f"{'≤' if goal.at_most else '≥'} {goal.ratio:g}"
        if verdict is None:
            rows.append([goal.work, "", " or ".join(goal.peers), "", "", "", wanted, "pending"])
            continue
        peer = "bare client" if verdict.peer == goal.errand else verdict.peer
        rows.append([goal.work, show(goal.figure, verdict.ours), peer,
                     show(goal.peer_figure or goal.figure, verdict.theirs),
                     f"{verdict.ratio:.2f}", f"{verdict.least:.2f} – {verdict.greatest:.2f}",
                     wanted, verdict.text])
    return rows


def run_text(results):
    """What one has to know of a run to judge or repeat it, in Markdown."""
    plan, machine = results["plan"], results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return (f"Measured on {results['date']} at commit `{results['commit']}`.\n\n"
            f"- Machine: {machine['cores']} cores ({machine['processor']}), "
            f"{machine['memory_gb']:.0f} GB of memory, Linux {machine['kernel']}; "
            f"load at the start {machine['load']:.2f}\n"
            f"- Versions: {versions}\n"
            f"- Plan: {plan['repetitions']} repetitions of {plan['tasks']:,} tasks, {plan['trips']} "
            f"round trips; a peer's drain ends after {plan['seconds']} s")


def embed(drawn):
    """The charts, for a page beside their directory."""
    return "\n".join(f"![{name.removesuffix('.svg').replace('-', ' ')}](charts/{name})"
                     for name in drawn)


def as_text(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) if i and cell[:1].isdigit() else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
                     for row in rows)


def as_markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def replace_block(document, name, text):
    """Between <!-- name --> and <!-- /name -->."""
    before, rest = document.split(f"<!-- {name} -->\n", 1)
    _, after = rest.split(f"<!-- /{name} -->", 1)
    return f"{before}<!-- {name} -->\n{text}\n<!-- /{name} -->{after}"
