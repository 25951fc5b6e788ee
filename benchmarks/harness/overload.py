"""Rows 12 to 14: overload. Bursts; arrivals at a fixed rate; leases that are held meanwhile."""

import math
import os
import signal
import time

from figures import Measure, Row, median, spread
from processes import Nodes, Running, results_of, run_json
from programs import holdfast, interleaved

LEASES = 1000    # held meanwhile
LONG = 600_000   # milliseconds: a wait so long that it does not end a burst
BACK = 0.9       # the fraction of goodput that counts as full goodput
WINDOW = 10      # buckets, of 50 ms
LONG_HELD = 15   # seconds: 1.5 ttl; a lease that is never renewed ends in this time

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
    resident = max(result["peak_resident_bytes"] / result["acquires"] for result in seen)
    return Row(12, "acquires of distinct resources started at once by coroutines of one process",
               measures + [Measure("peak resident memory of the process per acquire, total",
                                   spread([resident]), None, None, "bytes")]), long_held(seen)


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


def percent(results, name):
    """The part of the arrivals that were turned away, or granted late."""
    return 100 * sum(result[name] for result in results) / max(
        1, sum(result["arrived"] for result in results))


def sweep(plan, nodes, limit):
    """Returns a curve per kind of arrivals: load and goodput relative to the limit."""
    def run(x, wait, shed):
        return run_json(*arrivals(plan, nodes, x * limit, wait, plan.arrival_warm_up_ms[wait],
                                  plan.arrival_ms, shed))

    curves, seen = {}, []
    for name, wait, shed in ARRIVALS:
        results = interleaved({x: lambda x=x: run(x, wait, shed)
                               for x in plan.offered[wait, shed]}, plan.arrival_repetitions)
        seen += [result for of_x in results.values() for result in of_x]
        curves[name] = [
            {"x": x, "good": spread([goodput(result) / limit for result in of_x]),
             "each": [goodput(result) / limit for result in of_x],
             "turned_away": percent(of_x, "turned_away"), "late": percent(of_x, "late"),
             "acquire_ms_p50": median([result.get("acquire_ms_p50", 0) for result in of_x])}
            for x, of_x in results.items()]
    return curves, seen


def peak(curve):
    return max(point["good"]["median"] for point in curve)


def not_served(curve):
    """Text like '; turned away: 0.3 % at 5 ×'."""
    text = ""
    for figure, what in (("turned_away", "turned away"), ("late", "granted late")):
        parts = [f"{point[figure]:.2g} % at {point['x']:g} ×" for point in curve if point[figure]]
        text += f"; {what}: {', '.join(parts)}" if parts else ""
    return text


def of_sweep(plan, curves, limit):
    """The smallest ratio of goodput to its peak or, if that is less, to the offered load."""
    for name, wait, _ in ARRIVALS:
        curve, warm_up = curves[name], plan.arrival_warm_up_ms[wait]
        top = peak(curve)
        worst = min(curve, key=lambda point: point["good"]["median"] / min(point["x"], top))
        loads = ", ".join(f"{point['x']:g}" for point in curve)
        short = ", which is shorter than a wait" if warm_up < wait else ""
        yield Measure(f"{name}: smallest goodput at offered loads of {loads} × capacity, ratio to "
                      f"its peak or to the offered load; {plan.arrival_ms / 1000:g} s after a "
                      f"warm-up of {warm_up / 1000:g} s{short}",
                      spread([good / min(worst["x"], top) for good in worst["each"]]), ">=", BACK,
                      absolute=f"at {worst['x']:g} ×; peak {many(top * limit)} leases/s, "
                      f"capacity {many(limit)}{not_served(curve)}")


def stand_still(plan, count, load):
    """Stops a node for a while under `load` × capacity. Returns the result, begin and end of it."""
    before, still, after = plan.still_seconds
    warm_up = plan.arrival_warm_up_ms[1000]
    with Nodes(plan.build, f"--count={count}") as nodes:
        rate = load * capacity(plan, nodes)
        running = Running(*arrivals(plan, nodes, rate, 1000, warm_up,
                                    round(1000 * (before + still + after))))
        time.sleep(0.2 + warm_up / 1000 + before)
        os.kill(nodes.pids[0], signal.SIGSTOP)
        stopped = time.monotonic()
        time.sleep(still)
        os.kill(nodes.pids[0], signal.SIGCONT)
        resumed = time.monotonic()
        return running.result(), stopped, resumed


def seconds_back(result, stopped, resumed):
    """The time from the end of the stop until goodput is back for good: from then on each half
    second has the goodput of before, until the end of the run. If the last one has not, the time
    until the end."""
    width, buckets = result["bucket_seconds"], result["buckets"]
    enough = BACK * between(result, 0, stopped) * width * WINDOW
    first = math.ceil((resumed - result["begin"]) / width)
    last = len(buckets) - WINDOW
    below = [i for i in range(first, last + 1)
             if sum(buckets[i:i + WINDOW]) < enough or enough == 0]
    if not below:
        return 0
    back = len(buckets) if below[-1] == last else below[-1] + 1
    return result["begin"] + back * width - resumed


def of_stops(plan, seen):
    for count, load in plan.stops_at:
        stops = [stand_still(plan, count, load) for _ in range(plan.stops)]
        seen += [result for result, _, _ in stops]
        before = [between(result, 0, stopped) for result, stopped, _ in stops]
        during = [between(result, stopped, resumed) for result, stopped, resumed in stops]
        after = [between(result, resumed + 1, resumed + 3600) for result, _, resumed in stops]
        node = f"one of {count} nodes" if count > 1 else "the only node"
        text = f"{node} is stopped for {plan.still_seconds[1]:g} s at {load:g} × capacity"
        yield Measure(f"{text}: time until goodput is back and stays so, over each half second",
                      spread([seconds_back(*stop) for stop in stops]), "<=", 1, "s",
                      f"{many(median(before))} leases/s before the stop, {many(median(during))} "
                      f"during it, {many(median(after))} from 1 s after its end", every=True)
        yield Measure("the same: goodput from 1 s after the end, ratio to goodput before",
                      spread([a / b if b else 0 for a, b in zip(after, before)]), ">=", BACK,
                      every=True)


def together(plan, nodes, rate, processes):
    """The goodput of each process in the time in which all runs overlap."""
    results = results_of([
        Running(*arrivals(plan, nodes, rate / processes, 1000, plan.arrival_warm_up_ms[1000],
                          1000 + plan.arrival_ms))
        for _ in range(processes)])
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
        measures = list(of_sweep(plan, curves, limit))
        top = max(peak(curve) for curve in curves.values())
        measures += of_processes(plan, nodes, limit, top, seen)
    measures += of_stops(plan, seen)
    return Row(13, "offered load, 3 nodes; goodput: leases granted within their wait per second",
               measures), long_held(seen), curves


# Row 14

def long_held(results):
    """Those in which the leases were held so long that each was renewed, or lost."""
    return [result for result in results if result["held_seconds"] >= LONG_HELD]


def row_14(plan, held):
    """`held`: the runs of rows 12 and 13 that count here."""
    with Nodes(plan.build, "--count=3") as nodes:
        rate = 10 * capacity(plan, nodes)
        own = run_json(*arrivals(plan, nodes, rate, 1000, 1000, plan.held_ms))
    results = [*held, *long_held([own])]
    if not results:
        raise RuntimeError("the leases were not held for long enough")
    rest = min(result["shortest_rest_ms"] for result in results)
    return Row(14, f"{many(LEASES)} leases at ttl 10 s, held by the same locker during rows 12 "
                   f"and 13, in runs that hold them for {LONG_HELD} s or longer", [
        Measure("leases lost in all these runs together",
                spread([sum(result["lost"] for result in results)]), "<=", 0,
                absolute=f"{len(results)} runs; shortest time left of any lease: {many(rest)} ms"),
        Measure(f"leases lost in {own['held_seconds']:.0f} s at 10 × capacity",
                spread([own["lost"]]), "<=", 0,
                absolute=f"shortest time left: {many(own['shortest_rest_ms'])} ms")])
