"""What the peers in Python share: the options of a load, and the counting of its locks."""

import argparse
import time


def load_parser():
    """The common options of all load programs, as in load_options.hpp."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", required=True)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=200)
    parser.add_argument("--latency", action="store_true")
    return parser


class Meter:
    def __init__(self, arguments):
        self.latency = arguments.latency
        self.warm_up = arguments.warm_up / 1000
        self.length = arguments.length / 1000
        self.counting = self.stopping = False
        self.locks = 0
        self.acquire_us, self.cycle_us = [], []

    def count(self, asked, acquired):
        if not self.counting:
            return
        self.locks += 1
        if self.latency:
            self.acquire_us.append((acquired - asked) * 1e6)
            self.cycle_us.append((time.perf_counter() - asked) * 1e6)

    def begin(self):
        self.counting = True
        self.began, self.cpu_began = time.perf_counter(), time.process_time()

    def end(self):
        self.counting = False
        self.stopping = True
        self.seconds = time.perf_counter() - self.began
        self.cpu_seconds = time.process_time() - self.cpu_began

    def figures(self):
        all_figures = {"locks": self.locks, "seconds": self.seconds,
                       "cpu_seconds": self.cpu_seconds}
        for name in ("acquire_us", "cycle_us"):
            values = sorted(getattr(self, name))
            for suffix, part in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
                if values:
                    all_figures[f"{name}_{suffix}"] = values[int(part * (len(values) - 1))]
        return all_figures

    def measure(self):
        """Waits for the warm-up and the measurement, while threads work."""
        time.sleep(self.warm_up)
        self.begin()
        time.sleep(self.length)
        self.end()
