"""What is measured, and for how long: less with --quick."""

import datetime

import etcd
import machine
import mariadb
import postgresql
import zookeeper
from processes import Nodes
from programs import peers

STORES = (etcd, postgresql, zookeeper, mariadb)


class Plan:
    def __init__(self, arguments):
        quick = arguments.quick
        self.build, self.rows, self.draws = arguments.build, arguments.rows, not arguments.no_plots
        self.set_lengths(quick)
        self.set_loads(quick)
        self.warnings = machine.wait_until_idle()
        load = f"{machine.load():.2f}"
        self.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        self.find_programs(arguments)
        with Nodes(self.build, "--count=1") as nodes:
            self.machine = {**nodes.machine, "load before": load, "data in": machine.disk()}
        version = machine.version_of_code()
        if version:
            self.machine["code"] = version

    def set_lengths(self, quick):
        self.repetitions, self.run_ms = (3, 500) if quick else (7, 1000)
        # Of programs beside those of others, which may have to warm up; in stores beside Redis.
        self.warm_up_ms = 2000
        self.peer_repetitions, self.peer_ms = (3, 1000) if quick else (5, 3000)
        self.store_ms = 500 if quick else 2000
        self.recipe_repetitions = 3 if quick else 5
        self.contests = 2 if quick else 5
        # Leases are held for longer than a ttl: each is renewed, and would have ended otherwise.
        self.ttl_ms, self.hold_ms = (10_000, 15_000) if quick else (30_000, 36_000)
        self.holds = 1 if quick else 2
        # Row 26, whose keys stay for a second: before, and counted.
        self.kept_ms, self.kept_repetitions = ((2000, 1500), 2) if quick else ((3000, 6000), 3)
        self.local_rounds = 300  # row 7; the fastest way takes more than a second
        self.curve_repetitions, self.curve_ms = (1, 300) if quick else (3, 600)
        self.curve_warm_up_ms = 1000
        self.curve_hold_ms = 10_000  # each lease is renewed once in this time

    def set_loads(self, quick):
        self.concurrencies = (1, 32, 1024, 4096) if quick else (1, 8, 64, 256, 1024, 4096)
        self.waiters = (1, 100, 10_000) if quick else (1, 10, 100, 1000, 10_000)
        self.leases = (1, 1000, 10_000) if quick else (1, 10, 100, 1000, 10_000, 100_000)
        # Acquires at once, repetitions, seconds after which a burst is given up.
        self.bursts = [(100_000, 1, 15)] if quick else [(100_000, 3, 30), (1_000_000, 1, 60)]
        # Arrivals: offered loads as multiples of capacity, by milliseconds that each may wait and
        # the number of waiters above which others are turned away.
        self.offered = {
            (1_000, 0): (0.5, 2, 10) if quick else (0.1, 0.5, 0.75, 1, 1.5, 2, 4, 10),
            (10_000, 0): (2,) if quick else (2, 10),
            (1_000, 10_000): (2, 10)}
        # Before the count, by milliseconds that each may wait: longer than that, but for --quick.
        self.arrival_warm_up_ms = {1_000: 500 if quick else 2_000, 10_000: 500 if quick else 11_000}
        self.arrival_ms = 500 if quick else 5_000
        self.arrival_repetitions = 1 if quick else 3
        self.still_seconds = (1, 2, 2) if quick else (4, 2, 4)  # before, stopped, after
        self.stops = 1 if quick else 5
        # Nodes, and the offered load as a multiple of capacity.
        self.stops_at = ((3, 2), (1, 2)) if quick else ((3, 0.5), (3, 2), (1, 2))
        self.together = (4,) if quick else (2, 4)  # offered load of several processes
        self.held_ms = 16_000

    def find_programs(self, arguments):
        """Finds the stores and the programs of others that can be measured."""
        self.peers, self.skipped = [], []
        if self.wants(1, 2, 3):
            self.peers, self.skipped = peers(self.build, arguments.modules)
        self.store_rows = []  # pairs of a number and what measures it
        for store in STORES:
            numbers = [number for number in store.ROWS if self.wants(number)]
            why_not = store.why_not(self.build) if numbers else None
            if why_not is None:
                self.store_rows += [(number, store.ROWS[number]) for number in numbers]
            self.skipped += filter(None, [why_not])
        for number, missing in ((15, etcd.why_no_go), (17, zookeeper.missing_peers)):
            if any(number == each for each, _ in self.store_rows):
                self.skipped += filter(None, [missing(self.build)])

    def wants(self, *numbers):
        """Returns whether one of these rows must be measured."""
        return self.rows is None or any(number in self.rows for number in numbers)
