"""Runs all measurements and writes figures.json, figures.md and the plots. See scripts/bench."""

import argparse
import json
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import contention
import curves
import leases
import orders
import overload
import plots
import recipes
import report
import rows
import sticky
from plan import STORES, Plan
from programs import repeated

BEGIN = time.monotonic()


def say(text):
    print(f"==> {time.monotonic() - BEGIN:4.0f} s: {text}", file=sys.stderr, flush=True)


class Results:
    """What was measured so far. The files have it after each step."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        self.rows, self.libraries, self.curves = [], [], {}
        self.failed = []          # pairs of a step and the reason
        self.long_held = []       # runs of rows 12 and 13 that count in row 14
        self.plots, self.not_drawn = [], []

    def measure(self, name, step):
        """A step that fails does not end the others."""
        say(name)
        try:
            step()
        except Exception as error:  # of whatever kind
            traceback.print_exc()
            self.failed.append((name, " ".join(f"{type(error).__name__}: {error}".split())))
        self.write()

    def add(self, more):
        self.rows += [row for row in more if self.plan.wants(row.number)]
        self.rows.sort(key=lambda row: row.number)

    def write(self):
        (self.folder / "figures.json").write_text(json.dumps({
            "date": self.plan.date, "machine": self.plan.machine, "warnings": self.plan.warnings,
            "rows": [row.as_json() for row in self.rows], "failed": self.failed,
            "libraries": self.libraries, "left_out": self.plan.skipped + self.not_drawn,
            "repeated": repeated, "curves": self.curves}, indent=1) + "\n")
        (self.folder / "figures.md").write_text(self.text())

    def text(self):
        return "\n".join(report.page(self.plan, self)) + "\n"

    def missing(self):
        """The rows that were named and that no step has measured."""
        return sorted((self.plan.rows or set()) - {row.number for row in self.rows})


def steps(plan, results):
    """Pairs of a name and a step, which adds to the results."""
    def libraries():
        more, results.libraries = rows.rows_1_to_3(plan)
        results.add(more)

    def bursts():
        row, held = overload.row_12(plan)
        results.add([row])
        results.long_held += held

    def arrivals():
        row, held, results.curves["overload"] = overload.row_13(plan)
        results.add([row])
        results.long_held += held

    def curve(name):
        results.curves[name] = getattr(curves, name)(plan)

    if plan.wants(1, 2, 3):
        yield "rows 1 to 3, and other libraries", libraries
    for number, measure in ((4, rows.row_4), (5, rows.row_5), (6, leases.row_6), (9, rows.row_9),
                            (11, rows.threads), (19, orders.row_19),
                            (20, sticky.row_20), (21, rows.row_21),
                            *plan.store_rows,
                            *((number, recipes.measured(number)) for number in recipes.ROWS)):
        if plan.wants(number):
            yield f"row {number}", lambda measure=measure: results.add([measure(plan)])
    if plan.wants(7, 8, 10):
        yield "rows 7, 8 and 10", lambda: results.add(contention.rows(plan))
    if plan.wants(12):
        yield "row 12", bursts
    if plan.wants(13):
        yield "row 13", arrivals
    if plan.wants(14):
        yield "row 14", lambda: results.add([overload.row_14(plan, results.long_held)])
    if plan.rows is None and plan.draws:
        for name in ("concurrency", "nodes", "waiting", "leases"):
            yield f"plots: {name}", lambda name=name: curve(name)


def row_numbers(text):
    numbers = {int(word) for word in text.split(",")}
    if not numbers <= {*range(1, 15), *range(19, 22), *recipes.ROWS,
                       *(number for store in STORES for number in store.ROWS)}:
        raise ValueError
    return numbers


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="the build folder of CMake")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the figures")
    parser.add_argument("--modules", type=Path, help="node_modules with redlock and ioredis")
    parser.add_argument("--quick", action="store_true",
                        help="fewer and shorter runs, with more noise")
    parser.add_argument("--rows", type=row_numbers, metavar="N,...",
                        help="only these rows and their plots")
    parser.add_argument("--no-plots", action="store_true", help="only the tables")
    return parser.parse_args()


def main():
    arguments = parse()
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell may have left them ignored
        signal.signal(number, signal.default_int_handler)
    arguments.out.mkdir(parents=True, exist_ok=True)
    say("waiting until the machine is idle")
    plan = Plan(arguments)
    for why in [*plan.warnings, *(f"left out: {why}" for why in plan.skipped)]:
        say(why)
    results = Results(plan, arguments.out)
    for name, step in steps(plan, results):
        results.measure(name, step)
    if plan.draws:
        results.plots, results.not_drawn = plots.draw_all(results.curves, arguments.out)
    results.write()
    say(f"done: {arguments.out}")
    print(results.text(), end="")
    problems = [f"failed: {name}: {reason}" for name, reason in results.failed]
    if results.missing():
        problems.append(f"not measured: {', '.join(map(str, results.missing()))}")
    for problem in problems:
        say(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
