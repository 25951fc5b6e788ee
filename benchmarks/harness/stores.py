"""What the rows of stores beside Redis share: races, and contests of processes."""

import subprocess
import time

from figures import Measure, median, ratios, spread
from processes import Nodes, Running, results_of
from programs import holdfast, interleaved

PROCESSES = 8
LEAD = 2  # seconds in which all processes of a contest start, if that is not said
CHECKED_HOLD_US = 500  # so long that two holders at once would be seen
CHECKED_MS = 1000


def can_start(build, store):
    """Whether the programs were built with this store."""
    said = subprocess.run([str(build / "benchmarks" / "nodes"), "--help"], stdout=subprocess.PIPE,
                          text=True, check=True)
    return f"--{store} " in said.stdout


def why_not_started(build, store, option, rows, name, probe=lambda nodes: None):
    """Why these rows cannot be measured, or None. Starts the server, and probes it."""
    if not can_start(build, store):
        return f"{rows}: built without {name}"
    try:
        with Nodes(build, "--count=1", option) as nodes:
            probe(nodes)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return f"{rows}: {name} is not installed, or does not start: {error}"
    return None


def take_turns(command, urls, milliseconds, processes, sessions=1, lead=LEAD, hold_us=0):
    """Processes, perhaps with several sessions each, that want one resource again and again.
    Returns changes of owner and holds per second, and the smallest and the largest share of a
    session, where 1 is an equal share. Fails if two of them had it at once: with `hold_us` that is
    sure to be seen."""
    begin_ms = int((time.time() + lead) * 1000)
    options = {"begin": begin_ms, "length": milliseconds, "hold": hold_us,
               "resource": f"bench:turns:{begin_ms}"}
    results = results_of([Running(command, urls, options) for _ in range(processes)])
    # A process with several sessions tells the number of the session with each hold.
    holds = sorted((begin, end, number * sessions + sum(session))
                   for number, result in enumerate(results)
                   for begin, end, *session in result["holds"])
    if any(later[0] < earlier[1] for earlier, later in zip(holds, holds[1:])):
        raise RuntimeError(f"{command[0]}: two processes had the lock at once")
    last = (begin_ms + milliseconds) * 1_000_000
    owners = [number for begin, _, number in holds if begin < last]
    if not owners:
        raise RuntimeError(f"{command[0]}: nobody had the lock")
    contenders = processes * sessions
    shares = [owners.count(number) * contenders / len(owners) for number in range(contenders)]
    changes = sum(a != b for a, b in zip(owners, owners[1:]))
    return {"changes": changes * 1000 / milliseconds, "holds": len(owners) * 1000 / milliseconds,
            "least": min(shares), "most": max(shares)}


def of(results, name, figure):
    return [result[figure] for result in results[name]]


def compared(what, results, names, figure, unit, relation=None, bound=None):
    """The ratio of the first of two programs to the second."""
    absolute = " and ".join(f"{median(of(results, name, figure)):,.{0 if unit != 'us' else 1}f}"
                            for name in names)
    return Measure(what, ratios(*(of(results, name, figure) for name in names)), relation, bound,
                   absolute=f"{absolute} {unit}")


def race(plan, urls, clients, concurrency, milliseconds, warm_up_ms=None):
    """All programs have the same warm-up."""
    latency = {"latency": True} if concurrency == 1 else {}
    return interleaved({
        name: lambda client=client: client.run(
            urls, concurrency, milliseconds, warm_up_ms or plan.warm_up_ms, **latency)
        for name, client in clients.items()}, plan.peer_repetitions)


def check_exclusion(urls, runs):
    """`runs`: arguments of take_turns() for each program, without the length. Each hold takes a
    while, so that two at once overlap."""
    for command, processes, *more in runs:
        take_turns(command, urls, CHECKED_MS, processes, *more, hold_us=CHECKED_HOLD_US)


def beside(plan, urls, others, bounds):
    """Our client beside others, with 256 locks in flight and with one. `bounds` are those of the
    ratios of locks per second, of the clients that have one."""
    clients = {"holdfast": holdfast(plan.build), **others}
    several = race(plan, urls, clients, 256, plan.store_ms)
    one = race(plan, urls, {kind: client for kind, client in clients.items()
                            if not client.only_several}, 1, plan.store_ms)
    measures = []
    for kind, client in others.items():
        names = ("holdfast", kind)
        measures += [
            compared(f"256 in flight, distinct resources: locks/s, ratio to {client.name}", several,
                     names, "rate", "locks/s", *bounds.get(kind, (None, None))),
            compared("the same: CPU of the client, ratio to it", several, names, "cpu_us", "us")]
        if kind in one:
            measures.append(compared("one in flight: median latency, ratio to it", one, names,
                                     "cycle_us_p50", "us"))
    return measures


def contests(plan, urls, others):
    """Processes that contend for one resource: ours, and others of (title, command) without a ttl
    and a token."""
    commands = {"holdfast": [str(plan.build / "benchmarks" / "turn_client")],
                **{kind: words + ["--turns"] for kind, (_, words) in others.items()}}
    check_exclusion(urls, [(words, PROCESSES) for words in commands.values()])
    results = interleaved({
        (name, processes): lambda words=words, processes=processes: take_turns(
            words, urls, 3 * plan.run_ms, processes)
        for name, words in commands.items() for processes in (1, PROCESSES)}, plan.contests)
    ours = ("holdfast", PROCESSES)
    many = f"{PROCESSES} processes contend for one resource"
    return [
        *(compared(f"{many}: changes of owner, ratio to {title}, which has no ttl and no token",
                   results, (ours, (kind, PROCESSES)), "changes", "changes/s")
          for kind, (title, _) in others.items()),
        *alone_and_shares(results, ours, ("holdfast", 1))]


def alone_and_shares(results, ours, alone):
    """What a contest of our processes has shown, compared with one of them alone."""
    return [
        Measure("changes of owner, ratio to the holds of a process alone",
                ratios(of(results, ours, "changes"), of(results, alone, "holds")), None, None),
        Measure("largest deviation from an equal share",
                spread([100 * max(1 - least, most - 1) for least, most in zip(
                    of(results, ours, "least"), of(results, ours, "most"))]), None, None, "%")]
