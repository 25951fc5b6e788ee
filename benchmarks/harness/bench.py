"""Runs all measurements and writes figures.json, figures.md and the plots. See scripts/bench."""

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import contention
import curves
import etcd
import mariadb
import orders
import overload
import plots
import postgresql
import recipes
import report
import rows
import sticky
import zookeeper
from programs import Nodes, peers

STORES = (etcd, postgresql, zookeeper, mariadb)


class Plan:
    """The amount of work: fewer and shorter runs with --quick."""

    def __init__(self, arguments):
        quick = arguments.quick
        self.build = arguments.build
        self.repetitions, self.run_ms = (3, 500) if quick else (7, 1000)
        self.hold_ms, self.holds = (10_000, 1) if quick else (30_000, 2)
        self.contests = 2 if quick else 5
        self.curve_repetitions, self.curve_ms = (1, 300) if quick else (3, 600)
        self.concurrencies = (1, 32, 1024, 4096) if quick else (1, 4, 16, 64, 256, 1024, 4096)
        self.waiters = (1, 100, 10_000) if quick else (1, 10, 100, 1000, 10_000)
        self.leases = (1, 1000, 10_000) if quick else (1, 10, 100, 1000, 10_000, 100_000)
        self.curve_hold_ms = 10_000  # each lease is renewed once in this time
        # Acquires at once, repetitions, seconds after which a burst is given up.
        self.bursts = [(100_000, 1, 15)] if quick else [(100_000, 3, 30), (1_000_000, 1, 60)]
        self.offered = (0.5, 2, 10) if quick else (0.1, 0.2, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10)
        self.arrival_ms = (300, 500) if quick else (1_200, 1_000)  # before, and counted
        self.arrival_repetitions = 1 if quick else 2
        self.still_seconds = (0.8, 2, 1.7) if quick else (1, 2, 4)  # before, stopped, after
        self.stops = 1 if quick else 2
        # Nodes, and the offered load as a multiple of capacity.
        self.stops_at = ((3, 2), (1, 2)) if quick else ((3, 0.5), (3, 2), (1, 2))
        self.together = (4,) if quick else (2, 4)  # offered load of several processes
        self.held_ms = 4_000 if quick else 14_000
        self.rows = arguments.rows
        self.peers, self.skipped = [], []
        if self.wants(1, 2, 3):
            self.peers, self.skipped = peers(arguments.build, arguments.modules)
        self.store_rows = []  # pairs of a number and what measures it
        for store in STORES:
            numbers = [number for number in store.ROWS if self.wants(number)]
            why_not = store.why_not(arguments.build) if numbers else None
            if why_not is None:
                self.store_rows += [(number, store.ROWS[number]) for number in numbers]
            self.skipped += filter(None, [why_not])
        for number, missing in ((15, etcd.why_no_go), (17, zookeeper.missing_peers)):
            if any(number == each for each, _ in self.store_rows):
                self.skipped += filter(None, [missing(arguments.build)])
        self.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        self.load_before = f"{os.getloadavg()[0]:.2f}"
        with Nodes(arguments.build, "--count=1") as nodes:
            self.machine = {**nodes.machine, "load before": self.load_before}

    def wants(self, *numbers):
        """Returns whether one of these rows must be measured."""
        return self.rows is None or any(number in self.rows for number in numbers)


def say(begin, text):
    print(f"==> {time.monotonic() - begin:4.0f} s: {text}", file=sys.stderr, flush=True)


def write(folder, plan, all_rows, table, all_curves, draw):
    drawn, why_not = plots.draw_all(all_curves, folder) if draw else ([], None)
    skipped = plan.skipped + ([f"plots: {why_not}"] if why_not else [])
    (folder / "figures.json").write_text(json.dumps({
        "date": plan.date, "machine": plan.machine, "rows": [row.as_json() for row in all_rows],
        "libraries": table, "left_out": skipped, "curves": all_curves}, indent=1) + "\n")
    text = "\n".join(report.page(plan, all_rows, table, skipped, drawn)) + "\n"
    (folder / "figures.md").write_text(text)
    return text


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
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments.out.mkdir(parents=True, exist_ok=True)
    plan = Plan(arguments)
    begin = time.monotonic()
    for why in plan.skipped:
        say(begin, f"left out: {why}")
    all_rows, table, all_curves = [], [], {}
    if plan.wants(1, 2, 3):
        say(begin, "rows 1 to 3, and other libraries")
        all_rows, table = rows.rows_1_to_3(plan)
    for number, measure in ((4, rows.row_4), (5, rows.row_5), (6, rows.row_6), (9, rows.row_9),
                            (11, rows.threads), (19, orders.row_19),
                            (20, sticky.row_20), (21, rows.row_21),
                            *plan.store_rows,
                            *((number, recipes.measured(number)) for number in recipes.ROWS)):
        if plan.wants(number):
            say(begin, f"row {number}")
            all_rows.append(measure(plan))
    if plan.wants(7, 8, 10):
        say(begin, "rows 7, 8 and 10")
        all_rows += contention.rows(plan)
    if plan.wants(12, 13, 14):
        more, all_curves = overload.rows(plan, lambda text: say(begin, text))
        all_rows += more
    all_rows = sorted((row for row in all_rows if plan.wants(row.number)),
                      key=lambda row: row.number)
    if plan.rows is None and not arguments.no_plots:
        for name in ("concurrency", "nodes", "waiting", "leases"):
            say(begin, f"plots: {name}")
            all_curves[name] = getattr(curves, name)(plan)
    text = write(arguments.out, plan, all_rows, table, all_curves, not arguments.no_plots)
    say(begin, f"done: {arguments.out}")
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
