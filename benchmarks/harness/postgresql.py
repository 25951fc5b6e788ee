"""Rows 16 and 18: locks in PostgreSQL, beside those that one makes there without the library, on the
same server."""

import subprocess

from figures import Row
from programs import Client, Nodes
from stores import beside, can_start, contests, held

# Other ways to lock, and what they are called in the table.
PEERS = {"statement": "one statement a lock, pipelined on one connection",
         "advisory": "pg_try_advisory_lock, pipelined on one connection",
         "for_update": "SELECT ... FOR UPDATE, a connection for each lock"}
# Of the ratio of locks per second, with many in flight.
BOUNDS = {"statement": (">=", 50)}
WARM = ["--warm-up=2000"]  # the first statement of each lock is executed by then


def command(build, kind):
    return [str(build / "benchmarks" / "postgresql_locks"), f"--kind={kind}"]


def version(urls):
    said = subprocess.run(["psql", urls[0], "-tAc", "SHOW server_version"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.split()[0]


def peers(build):
    return {kind: Client(name, command(build, kind), "", several=WARM)
            for kind, name in PEERS.items()}


def contenders(build):
    return {"advisory": ("pg_advisory_lock", command(build, "advisory")),
            "for_update": ("SELECT ... FOR UPDATE", command(build, "for_update"))}


def row_16(plan):
    with Nodes(plan.build, "--count=1", "--postgresql") as nodes:
        urls = nodes.postgresql
        return Row(16, f"PostgreSQL {version(urls)}, which writes to its disk",
                   beside(plan, urls, peers(plan.build), BOUNDS) +
                   contests(plan, urls, contenders(plan.build)))


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
