"""Rows 16 and 18: locks in PostgreSQL, beside those that one makes there without the library, on the
same server."""

import subprocess

from figures import Row
from programs import Client, Nodes, holdfast, interleaved
from stores import PROCESSES, alone_and_shares, can_start, compared, held, race, take_turns

# Other ways to lock, and what they are called in the table.
PEERS = {"statement": "one statement a lock, pipelined on one connection",
         "advisory": "pg_try_advisory_lock, pipelined on one connection",
         "for_update": "SELECT ... FOR UPDATE, a connection for each lock"}
WARM = ["--warm-up=2000"]  # the first statement of each lock is executed by then


def command(build, kind):
    return [str(build / "benchmarks" / "postgresql_locks"), f"--kind={kind}"]


def version(urls):
    said = subprocess.run(["psql", urls[0], "-tAc", "SHOW server_version"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.split()[0]


def pairs(plan, urls):
    clients = {"holdfast": holdfast(plan.build),
               **{kind: Client(name, command(plan.build, kind), "", several=WARM)
                  for kind, name in PEERS.items()}}
    several, one = (race(plan, urls, clients, concurrency) for concurrency in (256, 1))
    measures = []
    for kind, name in PEERS.items():
        bound = (">=", 50) if kind == "statement" else (None, None)
        names = ("holdfast", kind)
        measures += [
            compared(f"256 in flight, distinct resources: locks/s, ratio to {name}", several,
                     names, "rate", "locks/s", *bound),
            compared("the same: CPU of the client, ratio to it", several, names, "cpu_us", "us"),
            compared("one in flight: median latency, ratio to it", one, names, "cycle_us_p50",
                     "us")]
    return measures


def contests(plan, urls):
    commands = {"holdfast": [str(plan.build / "benchmarks" / "turn_client")],
                "advisory": command(plan.build, "advisory") + ["--turns"],
                "for_update": command(plan.build, "for_update") + ["--turns"]}
    results = interleaved({
        (name, processes): lambda words=words, processes=processes: take_turns(
            words, urls, 3 * plan.run_ms, processes)
        for name, words in commands.items() for processes in (1, PROCESSES)}, plan.contests)
    ours = ("holdfast", PROCESSES)
    many = f"{PROCESSES} processes contend for one resource"
    return [
        *(compared(f"{many}: changes of owner, ratio to {name}, which has no ttl and no token",
                   results, (ours, (kind, PROCESSES)), "changes", "changes/s")
          for kind, name in (("advisory", "pg_advisory_lock"),
                             ("for_update", "SELECT ... FOR UPDATE"))),
        *alone_and_shares(results, ours, ("holdfast", 1))]


def row_16(plan):
    with Nodes(plan.build, "--count=1", "--postgresql") as nodes:
        urls = nodes.postgresql
        return Row(16, f"PostgreSQL {version(urls)}, which writes to its disk",
                   pairs(plan, urls) + contests(plan, urls))


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--postgresql") as nodes:
        return held(plan, f"PostgreSQL {version(nodes.postgresql)}", nodes.postgresql)


ROWS = {16: row_16, 18: row_18}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    if not can_start(build, "postgresql"):
        return "rows 16 and 18 of PostgreSQL: built without PostgreSQL"
    try:
        with Nodes(build, "--count=1", "--postgresql") as nodes:
            version(nodes.postgresql)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return "rows 16 and 18 of PostgreSQL: its server or psql is not installed"
    return None
