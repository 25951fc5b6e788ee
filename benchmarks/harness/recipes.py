"""Rows 22 to 26: the recipes compared with the plain way to the same end, in the same run."""

from figures import Measure, Row, median, ratios
from programs import Nodes, Running, interleaved


def run(plan, nodes, options, processes=1):
    """How often per second, by so many processes together, and the client's CPU for each, in us."""
    clients = [Running([str(plan.build / "benchmarks" / "recipe_client")], nodes.servers,
                       {"length": plan.run_ms, **options}) for _ in range(processes)]
    results = [client.result() for client in clients]
    done = sum(result["done"] for result in results)
    if done == 0:
        raise RuntimeError(f"recipe_client did nothing: {options}")
    return {"rate": sum(result["done"] / result["seconds"] for result in results),
            "cpu": 1e6 * sum(result["cpu_seconds"] for result in results) / done}


class Race:
    """Ways to the same end, which run in turn. Each is a name and its options."""

    def __init__(self, plan, nodes, ways, processes=1, **common):
        self.results = interleaved({
            name: lambda options=options: run(plan, nodes, {**common, **options}, processes)
            for name, options in ways.items()}, plan.repetitions)

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
    alone = Race(plan, nodes, ways, concurrency=1)
    many = Race(plan, nodes, ways, concurrency=64)
    crowd = Race(plan, nodes, {name: ways[name] for name in ("together", "in turn")}, 4,
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
    alone = Race(plan, nodes, ways, concurrency=1)
    crowd = {processes: Race(plan, nodes, ways, processes, concurrency=64 // processes, work=1000)
             for processes in (1, 4)}
    return Row(23, "semaphore of 8 permits, beside a lock", [
        alone.time("one coroutine: time, ratio to a lock", "permit", "lock"),
        *[crowd[n].rates(f"{n} process{'es' if n > 1 else ''}, 64 coroutines, 1 ms of work: rate, "
                         "ratio to one lock for all", "permit", "lock") for n in crowd]])


def row_24(plan, nodes):
    ways = {"read": {"how": "read"}, "write": {"how": "write"}, "lock": {"how": "lock", "shared": True}}
    alone = Race(plan, nodes, ways, concurrency=1)
    crowd = {processes: Race(plan, nodes, {name: ways[name] for name in ("read", "lock")},
                             processes, concurrency=64 // processes, work=1000)
             for processes in (1, 4)}
    return Row(24, "read_write_lock of 8 slots, beside a lock", [
        alone.time("one reader: time, ratio to a lock", "read", "lock"),
        alone.time("one writer: time, ratio to a lock", "write", "lock"),
        *[crowd[n].rates(f"{n} process{'es' if n > 1 else ''}, 64 readers, 1 ms of work: rate, "
                         "ratio to one lock for all", "read", "lock") for n in crowd]])


def row_25(plan, nodes):
    ways = {"run": {"how": "run"}, "hold": {"how": "hold"}}
    alone = Race(plan, nodes, ways, concurrency=1)
    many = Race(plan, nodes, ways, concurrency=64)
    return Row(25, "election: run() of a body that returns at once, beside lock::hold()", [
        alone.time("one candidate: time of a term, ratio to hold()", "run", "hold"),
        many.rates("64 offices: terms/s, ratio to hold()", "run", "hold"),
        many.cpu("64 offices: CPU of the client, ratio to hold()", "run", "hold")])


def row_26(plan, nodes):
    ways = {"kept": {"how": "min_hold"}, "usual": {"how": "fresh"}}
    alone = Race(plan, nodes, ways, concurrency=1)
    many = Race(plan, nodes, ways, concurrency=64)
    return Row(26, "min_hold of 1 s, a new resource each time, beside a lock without it", [
        alone.time("one coroutine: time, ratio to a lock", "kept", "usual"),
        many.rates("64 coroutines: rate, ratio to a lock", "kept", "usual"),
        many.cpu("64 coroutines: CPU of the client, ratio to a lock", "kept", "usual")])


ROWS = {22: row_22, 23: row_23, 24: row_24, 25: row_25, 26: row_26}


def measured(number):
    """The function that measures a row, on nodes of its own."""
    def measure(plan):
        with Nodes(plan.build) as nodes:
            return ROWS[number](plan, nodes)
    return measure
