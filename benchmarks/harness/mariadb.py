"""Rows 18 and 27: locks in MariaDB, beside those that one makes there without the library, on the
same server."""

from figures import Row
from programs import Client, Nodes, holdfast, interleaved, run_json
from stores import PROCESSES, alone_and_shares, can_start, compared, held, race, take_turns

# Other ways to lock, what they are called in the table, and their fastest number of connections
# where that is not the number of locks in flight.
PEERS = {"statement": ("one statement a lock, a connection for each lock in flight", None),
         "get_lock": ("GET_LOCK(), 16 connections", 16),
         "for_update": ("SELECT ... FOR UPDATE, 16 connections", 16)}
WARM = "--warm-up=1000"  # all threads are connected by then


def command(build, kind):
    return [str(build / "benchmarks" / "mariadb_locks"), f"--kind={kind}"]


def version(build, urls):
    return run_json(command(build, "statement") + ["--version"], urls, {})["version"]


def clients_of(build):
    all_clients = {"holdfast": holdfast(build)}
    for kind, (name, connections) in PEERS.items():
        fewer = [f"--connections={connections}"] if connections else []
        all_clients[kind] = Client(name, command(build, kind), "", several=[WARM, *fewer],
                                   one=[WARM])
    return all_clients


def pairs(plan, urls):
    clients = clients_of(plan.build)
    several, one = (race(plan, urls, clients, concurrency) for concurrency in (256, 1))
    measures = []
    for kind, (name, _) in PEERS.items():
        names = ("holdfast", kind)
        measures += [
            compared(f"256 in flight, distinct resources: locks/s, ratio to {name}", several,
                     names, "rate", "locks/s"),
            compared("the same: CPU of the client, ratio to it", several, names, "cpu_us", "us"),
            compared("one in flight: median latency, ratio to it", one, names, "cycle_us_p50",
                     "us")]
    return measures


def contests(plan, urls):
    commands = {"holdfast": [str(plan.build / "benchmarks" / "turn_client")],
                "get_lock": command(plan.build, "get_lock") + ["--turns"],
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
          for kind, name in (("get_lock", "GET_LOCK()"),
                             ("for_update", "SELECT ... FOR UPDATE"))),
        *alone_and_shares(results, ours, ("holdfast", 1))]


def row_27(plan):
    with Nodes(plan.build, "--count=1", "--mysql") as nodes:
        urls = nodes.mysql
        return Row(27, f"MariaDB {version(plan.build, urls)}, which writes to its disk",
                   pairs(plan, urls) + contests(plan, urls))


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--mysql") as nodes:
        return held(plan, f"MariaDB {version(plan.build, nodes.mysql)}", nodes.mysql)


ROWS = {18: row_18, 27: row_27}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    if not can_start(build, "mysql"):
        return "rows 18 and 27: built without MariaDB"
    try:
        with Nodes(build, "--count=1", "--mysql"):
            return None
    except (OSError, RuntimeError):
        return "rows 18 and 27: MariaDB's server is not installed"
