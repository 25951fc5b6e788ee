"""Rows 22 to 26: the recipes compared with the plain way to the same end, in the same run."""

import contextlib

from figures import Measure, Row, median, ratios
from processes import Nodes, run_together
from programs import interleaved


def run(plan, nodes, options, processes=1):
    """How often per second, by so many processes together, and the client's CPU for each, in us."""
    results = run_together([str(plan.build / "benchmarks" / "recipe_client")], nodes.servers,
                           {"length": plan.run_ms, **options}, processes)
    done = sum(result["done"] for result in results)
    if done == 0:
        raise RuntimeError(f"recipe_client did nothing: {options}")
    return {"rate": sum(result["done"] / result["seconds"] for result in results),
            "cpu": 1e6 * sum(result["cpu_seconds"] for result in results) / done}


def on(nodes):
    """For a race whose runs share these nodes."""
    return lambda: contextlib.nullcontext(nodes)


def on_new_nodes(plan):
    """For a race of which each run has nodes of its own."""
    return lambda: Nodes(plan.build)


class Race:
    """Ways to the same end, which run in turn. Each is a name and its options. `open_nodes` gives
    the nodes of a run, in a `with` block."""

    def __init__(self, plan, open_nodes, ways, processes=1, repetitions=None, **common):
        def once(options):
            with open_nodes() as nodes:
                return run(plan, nodes, {**common, **options}, processes)

        self.results = interleaved({name: lambda options=options: once(options)
                                    for name, options in ways.items()},
                                   repetitions or plan.recipe_repetitions)

    def of(self, name, figure):
        return [result[figure] for result in self.results[name]]

    def rates(self, what, name, other, relation=None, bound=None, unit="times"):
        absolute = " and ".join(f"{median(self.of(each, 'rate')):,.0f}" for each in (name, other))
        return Measure(what, ratios(self.of(name, "rate"), self.of(other, "rate")), relation, bound,
                       absolute=f"{absolute} {unit}/s")

    def time(self, what, name, other, relation=None, bound=None):
        """For one at a time: how long each takes."""
        took = {each: [1e6 / rate for rate in self.of(each, "rate")] for each in (name, other)}
        absolute = " and ".join(f"{median(took[each]):,.0f}" for each in (name, other))
        return Measure(what, ratios(took[name], took[other]), relation, bound,
                       absolute=f"{absolute} us")

    def cpu(self, what, name, other):
        absolute = " and ".join(f"{median(self.of(each, 'cpu')):.2f}" for each in (name, other))
        return Measure(what, ratios(self.of(name, "cpu"), self.of(other, "cpu")), None, None,
                       absolute=f"{absolute} us")


def row_22(plan, nodes):
    ways = {"together": {"how": "multi_lock"}, "in turn": {"how": "in_turn"},
            "one": {"how": "lock"}}
    alone = Race(plan, on(nodes), ways, concurrency=1)
    many = Race(plan, on(nodes), ways, concurrency=64)
    crowd = Race(plan, on(nodes), {name: ways[name] for name in ("together", "in turn")}, 4,
                 concurrency=4, resources=12, work=1000)
    return Row(22, "multi_lock of three resources, beside three locks one after the other", [
        alone.time("one coroutine: time, ratio to three locks", "together", "in turn"),
        alone.time("one coroutine: time, ratio to one lock", "together", "one"),
        many.rates("64 coroutines: rate, ratio to three locks", "together", "in turn"),
        many.cpu("64 coroutines: CPU of the client, ratio to three locks", "together", "in turn"),
        crowd.rates("4 processes of 4 want three of 12 for 1 ms: rate, ratio to three locks in "
                    "one order", "together", "in turn")])


def row_23(plan, nodes):
    ways = {"permit": {"how": "semaphore"}, "lock": {"how": "lock", "shared": True}}
    alone = Race(plan, on(nodes), ways, concurrency=1)
    crowd = {processes: Race(plan, on(nodes), ways, processes, concurrency=64 // processes,
                             work=1000)
             for processes in (1, 4)}
    return Row(23, "semaphore of 8 permits, beside a lock", [
        alone.time("one coroutine: time, ratio to a lock", "permit", "lock"),
        *[crowd[n].rates(f"{n} process{'es' if n > 1 else ''}, 64 coroutines, 1 ms of work: rate, "
                         "ratio to one lock for all", "permit", "lock") for n in crowd]])


def row_24(plan, nodes):
    ways = {"read": {"how": "read"}, "write": {"how": "write"},
            "lock": {"how": "lock", "shared": True}}
    alone = Race(plan, on(nodes), ways, concurrency=1)
    crowd = {processes: Race(plan, on(nodes), {name: ways[name] for name in ("read", "lock")},
                             processes, concurrency=64 // processes, work=1000)
             for processes in (1, 4)}
    return Row(24, "read_write_lock of 8 slots, beside a lock", [
        alone.time("one reader: time, ratio to a lock", "read", "lock"),
        alone.time("one writer: time, ratio to a lock", "write", "lock"),
        *[crowd[n].rates(f"{n} process{'es' if n > 1 else ''}, 64 readers, 1 ms of work: rate, "
                         "ratio to one lock for all", "read", "lock") for n in crowd]])


def row_25(plan, nodes):
    ways = {"run": {"how": "run"}, "hold": {"how": "hold"}}
    alone = Race(plan, on(nodes), ways, concurrency=1)
    many = Race(plan, on(nodes), ways, concurrency=64)
    return Row(25, "election: run() of a body that returns at once, beside lock::hold()", [
        alone.time("one candidate: time of a term, ratio to hold()", "run", "hold"),
        many.rates("64 offices: terms/s, ratio to hold()", "run", "hold"),
        many.cpu("64 offices: CPU of the client, ratio to hold()", "run", "hold")])


def row_26(plan):
    """Keys that stay are no burden of other runs, as each has new nodes. It is so long that most of
    the keys end in it."""
    ways = {"kept": {"how": "min_hold"}, "usual": {"how": "fresh"}}
    warm_up, length = plan.kept_ms
    common = {"warm-up": warm_up, "length": length, "repetitions": plan.kept_repetitions}
    alone, many = (Race(plan, on_new_nodes(plan), ways, concurrency=n, **common) for n in (1, 64))
    return Row(26, "min_hold of 1 s, a new resource each time, beside a lock without it; "
                   f"{length / 1000:g} s after a warm-up of {warm_up / 1000:g} s", [
        alone.time("one coroutine: time, ratio to a lock", "kept", "usual"),
        many.rates("64 coroutines: rate, ratio to a lock", "kept", "usual"),
        many.cpu("64 coroutines: CPU of the client, ratio to a lock", "kept", "usual")])


ON_SHARED_NODES = {22: row_22, 23: row_23, 24: row_24, 25: row_25}
ROWS = (*ON_SHARED_NODES, 26)


def measured(number):
    """The function that measures a row."""
    if number == 26:
        return row_26

    def measure(plan):
        with Nodes(plan.build) as nodes:
            return ON_SHARED_NODES[number](plan, nodes)
    return measure
