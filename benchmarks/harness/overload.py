"""Rows 12 to 14: overload. Bursts; arrivals at a fixed rate; leases that are held meanwhile."""

import os
import signal
import time

from figures import Measure, Row, median, spread
from programs import Nodes, Running, holdfast, interleaved, run_json

LEASES = 1000    # held meanwhile
LONG = 600_000   # milliseconds: a wait so long that it does not end a burst
BACK = 0.9       # the fraction of goodput that counts as full goodput

# Kinds of arrivals: name, milliseconds that each may wait, how many may wait at once (0: no limit).
# Arrivals that are turned away without asking cost the machine nothing; refusals by the locker do.
ARRIVALS = (("wait 1 s", 1_000, 0), ("wait 10 s", 10_000, 0),
            ("wait 1 s, 10,000 waiting", 1_000, 10_000))


def program(plan, name):
    return [str(plan.build / "benchmarks" / name)]


def many(value):
    return f"{value:,.0f}"


def capacity(plan, nodes):
    """The rate of row 1 with these nodes, in locks/s."""
    return holdfast(plan.build).run(nodes.servers, 256, plan.run_ms)["rate"]


# Row 12

def burst(plan, nodes, acquires, wait, limit):
    return run_json(program(plan, "burst_client"), nodes.servers, {
        "acquires": acquires, "wait": wait, "limit": 1000 * limit, "held": LEASES})


def ended(result):
    """The outcome as text, like '3 of 100,000 in 60 s', with errors."""
    text = f"{many(result['granted'])} of {many(result['acquires'])} in {result['seconds']:.2f} s"
    errors = [f"{many(times)} {what}" for what, times in result["errors"].items()]
    return ", ".join([text, *errors])


def not_granted(results):
    """The number in all runs together: a median would hide occasional failures."""
    return spread([sum(result["acquires"] - result["granted"] for result in results)])


def bursts(plan, count, acquires, repetitions, limit):
    """Runs bursts, each after a run of row 1. Returns the rates of row 1, and the results."""
    with Nodes(plan.build, f"--count={count}") as nodes:
        both = interleaved({
            "rate": lambda: capacity(plan, nodes),
            "burst": lambda: burst(plan, nodes, acquires, LONG, limit)}, repetitions)
    return both["rate"], both["burst"]


def row_12(plan):
    measures, seen = [], []
    for acquires, repetitions, limit in plan.bursts:
        for count in (3, 5):
            rates, results = bursts(plan, count, acquires, repetitions, limit)
            seen += results
            to_rate = [result["seconds"] * rate / acquires
                       for rate, result in zip(rates, results)]
            text = f"{many(acquires)} at once, {count} nodes"
            measures += [
                Measure(f"{text}: not granted", not_granted(results), "<=", 0,
                        absolute=ended(results[-1])),
                Measure(f"{text}: time, ratio to that of as many locks at row 1's rate",
                        spread(to_rate), "<=", 1.3,
                        absolute=f"{many(median(rates))} locks/s in row 1")]
    acquires, repetitions, limit = plan.bursts[0]
    with Nodes(plan.build, "--count=5") as nodes:
        usual = [burst(plan, nodes, acquires, 10_000, limit) for _ in range(repetitions)]
    seen += usual
    measures.append(Measure(f"{many(acquires)} at once, 5 nodes, default wait of 10 s: not granted",
                            not_granted(usual), "<=", 0, absolute=ended(usual[-1])))
    resident = max(result["resident_bytes"] / result["acquires"] for result in seen)
    return Row(12, "acquires of distinct resources started at once by coroutines of one process",
               measures + [Measure("resident memory of the process per acquire, total",
                                   spread([resident]), None, None, "bytes")]), seen


# Row 13

def arrivals(plan, nodes, rate, wait, warm_up, length, shed=0):
    return program(plan, "arrival_client"), nodes.servers, {
        "rate": round(rate), "wait": wait, "warm-up": warm_up, "length": length, "shed": shed,
        "held": LEASES}


def goodput(result):
    return sum(result["buckets"]) / result["seconds"]


def between(result, begin, end):
    """Goodput of the whole buckets between two times."""
    width = result["bucket_seconds"]
    chosen = [leases for i, leases in enumerate(result["buckets"])
              if begin <= result["begin"] + i * width and
              result["begin"] + (i + 1) * width <= end]
    return sum(chosen) / (width * len(chosen)) if chosen else 0


def sweep(plan, nodes, limit):
    """Returns a curve {x, good} per kind of arrivals: load and goodput relative to the limit."""
    def run(x, wait, shed):
        return run_json(*arrivals(plan, nodes, x * limit, wait, *plan.arrival_ms, shed))

    curves, seen = {}, []
    for name, wait, shed in ARRIVALS:
        results = interleaved({x: lambda x=x: run(x, wait, shed) for x in plan.offered
                               if shed == 0 or x >= 1}, plan.arrival_repetitions)
        seen += [result for of_x in results.values() for result in of_x]
        curves[name] = [
            {"x": x, "good": spread([goodput(result) / limit for result in of_x]),
             "acquire_ms_p50": median([result.get("acquire_ms_p50", 0) for result in of_x])}
            for x, of_x in results.items()]
    return curves, seen


def peak(curve):
    return max(point["good"]["median"] for point in curve)


def of_sweep(curves, limit):
    """The smallest ratio of goodput to its peak or, if that is less, to the offered load."""
    for name, curve in curves.items():
        top = peak(curve)
        parts = {point["x"]: point["good"]["median"] / min(point["x"], top) for point in curve}
        worst = min(parts, key=parts.get)
        yield Measure(f"{name}: smallest goodput at offered loads of {curve[0]['x']:g} to "
                      f"{curve[-1]['x']:g} × capacity, ratio to its peak or to the offered load",
                      spread([parts[worst]]), ">=", BACK,
                      absolute=f"at {worst:g} ×; peak {many(top * limit)} leases/s, "
                      f"capacity {many(limit)}")


def stand_still(plan, count, load):
    """Stops a node for a while under `load` × capacity. Returns the result, begin and end of it."""
    before, still, after = plan.still_seconds
    with Nodes(plan.build, f"--count={count}") as nodes:
        rate = load * capacity(plan, nodes)
        running = Running(*arrivals(plan, nodes, rate, 1000, 1000,
                                       round(1000 * (before + still + after))))
        time.sleep(1.2 + before)
        os.kill(nodes.pids[0], signal.SIGSTOP)
        stopped = time.monotonic()
        time.sleep(still)
        os.kill(nodes.pids[0], signal.SIGCONT)
        resumed = time.monotonic()
        return running.result(), stopped, resumed


def seconds_back(result, stopped, resumed):
    """The time from the end of the stop until five buckets in a row have the goodput of before."""
    width = result["bucket_seconds"]
    enough = BACK * between(result, 0, stopped)
    last = result["begin"] + result["seconds"] - 5 * width
    first = resumed
    while first < last:
        if between(result, first, first + 6 * width) >= enough > 0:  # contains five whole buckets
            return first - resumed
        first += width
    return last + 5 * width - resumed  # goodput did not come back in this run


def of_stops(plan, seen):
    for count, load in plan.stops_at:
        stops = [stand_still(plan, count, load) for _ in range(plan.stops)]
        seen += [result for result, _, _ in stops]
        before = [between(result, 0, stopped) for result, stopped, _ in stops]
        during = [between(result, stopped, resumed) for result, stopped, resumed in stops]
        after = [between(result, resumed + 1, resumed + 3600) for result, _, resumed in stops]
        node = f"one of {count} nodes" if count > 1 else "the only node"
        text = f"{node} is stopped for {plan.still_seconds[1]:g} s at {load:g} × capacity"
        yield Measure(f"{text}: time until goodput is back",
                      spread([seconds_back(*stop) for stop in stops]), "<=", 1, "s",
                      f"{many(median(before))} leases/s before the stop, {many(median(during))} "
                      f"during it, {many(median(after))} from 1 s after its end")
        yield Measure("the same: goodput from 1 s after the end, ratio to goodput before",
                      spread([a / b if b else 0 for a, b in zip(after, before)]), ">=", BACK)


def together(plan, nodes, rate, processes):
    """The goodput of each process in the time in which all runs overlap."""
    running = [Running(*arrivals(plan, nodes, rate / processes, 1000, 1500,
                                    1000 + plan.arrival_ms[1]))
               for _ in range(processes)]
    results = [one.result() for one in running]
    begin = max(result["begin"] for result in results)
    end = min(result["begin"] + result["seconds"] for result in results)
    return [between(result, begin, end) for result in results], results


def of_processes(plan, nodes, limit, top, seen):
    processes = 4
    for load in plan.together:
        runs = []
        for _ in range(plan.arrival_repetitions):
            each, results = together(plan, nodes, load * limit, processes)
            runs.append(each)
            seen += results
        totals = [sum(each) for each in runs]
        smallest = [processes * min(each) / max(sum(each), 1) for each in runs]
        largest = [processes * max(each) / max(sum(each), 1) for each in runs]
        text = f"{processes} processes, {load} × capacity in total"
        yield Measure(f"{text}: total goodput, ratio to the peak of one process",
                      spread([total / (top * limit) for total in totals]), ">=", BACK,
                      absolute=f"{many(median(totals))} leases/s")
        yield Measure("the same: smallest goodput, ratio to an equal share", spread(smallest),
                      None, None, absolute=f"largest {median(largest):.2f}")


def row_13(plan):
    with Nodes(plan.build, "--count=3") as nodes:
        limit = median([capacity(plan, nodes) for _ in range(3)])
        curves, seen = sweep(plan, nodes, limit)
        measures = list(of_sweep(curves, limit))
        top = max(peak(curve) for curve in curves.values())
        measures += of_processes(plan, nodes, limit, top, seen)
    measures += of_stops(plan, seen)
    return Row(13, "offered load, 3 nodes; goodput: leases granted within their wait per second",
               measures), seen, curves


# Row 14

def row_14(plan, seen):
    """`seen`: the runs of rows 12 and 13."""
    with Nodes(plan.build, "--count=3") as nodes:
        rate = 10 * capacity(plan, nodes)
        long = run_json(*arrivals(plan, nodes, rate, 1000, 1000, plan.held_ms))
    rest = min(result["shortest_rest_ms"] for result in [*seen, long])
    return Row(14, f"{many(LEASES)} leases at ttl 10 s, held by the same locker during rows 12 "
                   "and 13", [
        Measure("leases lost, all runs", spread([sum(r["lost"] for r in [*seen, long])]), "<=", 0,
                absolute=f"shortest time left of any lease: {many(rest)} ms"),
        Measure(f"leases lost in {plan.held_ms / 1000:g} s at 10 × capacity",
                spread([long["lost"]]), "<=", 0,
                absolute=f"shortest time left: {many(long['shortest_rest_ms'])} ms")])


def rows(plan, say):
    """Returns the wanted rows and the curves. Row 14 uses the runs of rows 12 and 13 too."""
    all_rows, curves, seen = [], {}, []
    if plan.wants(12, 14):
        say("row 12")
        row, results = row_12(plan)
        all_rows.append(row)
        seen += results
    if plan.wants(13, 14):
        say("row 13")
        row, results, curves["overload"] = row_13(plan)
        all_rows.append(row)
        seen += results
    if plan.wants(14):
        say("row 14")
        all_rows.append(row_14(plan, seen))
    return all_rows, curves
