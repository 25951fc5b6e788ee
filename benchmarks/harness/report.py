"""The figures as a Markdown page."""

from programs import repeated

RELATIONS = {">=": "≥", "<=": "≤", "<": "<"}


def number(value):
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def with_spread(values, unit=""):
    text = f"{number(values['median'])} {unit}".rstrip()
    spread = ("" if values["min"] == values["max"] else
              f"{number(values['min'])} … {number(values['max'])}; ")
    return f"{text} ({spread}n = {values['repetitions']})"


def verdict(measure):
    if measure.reached() is None:
        return ""
    mixed = measure.within_spread()
    if measure.reached():
        return "yes, but not in every repetition" if mixed else "yes"
    beyond = measure.missed_by()
    text = "**no**" if beyond == float("inf") else f"**no**, by {100 * beyond:.0f} %"
    return f"{text}, but yes in some repetitions" if mixed else text


def row_lines(rows):
    yield "| # | work | figure | bound | median (min … max; repetitions) | | reached |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        if not row.measures:
            yield f"| {row.number} | {row.work} | | | | | |"
        for place, measure in enumerate(row.measures):
            bound = ""
            if measure.relation is not None:
                bound = ("0" if measure.bound == 0 else
                         f"{RELATIONS[measure.relation]} {measure.bound:,} {measure.unit}".rstrip())
                if measure.every:
                    bound += " in every repetition"
            first = [str(row.number), row.work] if place == 0 else ["", ""]
            yield "| " + " | ".join([
                *first, measure.what, bound, with_spread(measure.values, measure.unit),
                measure.absolute, verdict(measure)]) + " |"


def peer_lines(table):
    yield ("| | locks/s, 256 in flight | ratio of holdfast to it | client CPU per lock, us "
           "| one at a time: median us | client CPU per lock, us | settings |")
    yield "|---|---|---|---|---|---|---|"
    for peer in table:
        itself = peer["name"].startswith("holdfast")
        compared = "" if itself else with_spread(peer["ratio_256"])
        yield "| " + " | ".join([
            peer["name"], with_spread(peer["rate_256"]), compared, with_spread(peer["cpu_us_256"]),
            with_spread(peer["cycle_us_1"]), with_spread(peer["cpu_us_1"]),
            peer["settings"]]) + " |"


def page(plan, results):
    machine = ", ".join(f"{name}: {value}" for name, value in plan.machine.items())
    yield "# Figures"
    yield ""
    yield (f"{plan.date}; {machine}. The servers are on loopback and share the machine with the "
           "client. A figure is the median of its repetitions, with the smallest and the largest "
           "one and their number. A ratio compares runs of the same repetition, in which the "
           "programs run in turn. The rows differ in the number and the length of their runs.")
    for warning in plan.warnings:
        yield ""
        yield f"**{warning}**"
    yield ""
    yield from row_lines(results.rows)
    for name, reason in results.failed:
        yield ""
        yield f"**Failed:** {name}: {reason}"
    table = results.libraries
    if table:
        yield ""
        yield "## Comparison with other libraries"
        yield ""
        yield ("Distinct resources, acquire + release; each program counts for "
               f"{plan.peer_ms / 1000:g} s after a warm-up of {plan.warm_up_ms / 1000:g} s. A "
               "library that supports only one node is compared with holdfast on one node.")
        yield ""
        yield from peer_lines(table)
    if plan.skipped or results.not_drawn:
        yield ""
        yield "Left out: " + "; ".join(plan.skipped + results.not_drawn) + "."
    if repeated:
        yield ""
        yield "Runs that were repeated because they had not a single lock: " + "; ".join(
            f"{name}: {times}" for name, times in repeated.items()) + "."
    if results.plots:
        yield ""
        yield "## Plots"
        for name, title in results.plots:
            yield ""
            yield f"![{title}]({name}.svg)"
