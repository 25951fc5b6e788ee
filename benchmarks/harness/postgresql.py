"""Rows 16 and 18: locks in PostgreSQL, beside those that one makes there without the library, on
the same server."""

import subprocess

from figures import Row
from leases import held
from machine import keeps_data
from processes import Nodes
from programs import Client
from stores import beside, contests, why_not_started

# Other ways to lock, and what they are called in the table.
PEERS = {"statement": "one statement a lock, pipelined on one connection",
         "advisory": "pg_try_advisory_lock, pipelined on one connection"}
# Others, with the fastest of these numbers of connections.
WITH_CONNECTIONS = {"statement": "one statement a lock, pipelined on {} connections, their fastest "
                                 "number",
                    "for_update": "SELECT ... FOR UPDATE, {} connections, their fastest number"}
CONNECTIONS = (16, 64, 256)
# Of the ratio of locks per second, with many in flight.
BOUNDS = {"statement": (">=", 50)}


def command(build, kind):
    return [str(build / "benchmarks" / "postgresql_locks"), f"--kind={kind}"]


def version(urls):
    said = subprocess.run(["psql", urls[0], "-tAc", "SHOW server_version"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.split()[0]


def fastest(plan, urls, kind, name):
    """The client with the number of connections that is the fastest in a trial."""
    def client(connections):
        return Client(name.format(connections), command(plan.build, kind), "",
                      several=[f"--connections={connections}"])

    rates = {n: client(n).run(urls, 256, plan.run_ms, plan.warm_up_ms)["rate"] for n in CONNECTIONS}
    return client(max(rates, key=rates.get))


def peers(plan, urls):
    clients = {kind: Client(name, command(plan.build, kind), "") for kind, name in PEERS.items()}
    for kind, name in WITH_CONNECTIONS.items():
        more = fastest(plan, urls, kind, name)
        more.only_several = kind in clients  # with one in flight it is the same as that
        clients[f"{kind}, connections"] = more
    return clients


def contenders(build):
    return {"advisory": ("pg_advisory_lock", command(build, "advisory")),
            "for_update": ("SELECT ... FOR UPDATE", command(build, "for_update"))}


def row_16(plan):
    with Nodes(plan.build, "--count=1", "--postgresql") as nodes:
        urls = nodes.postgresql
        return Row(16, f"PostgreSQL {version(urls)}, which {keeps_data()}",
                   beside(plan, urls, peers(plan, urls), BOUNDS) +
                   contests(plan, urls, contenders(plan.build)))


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--postgresql") as nodes:
        return held(plan, f"PostgreSQL {version(nodes.postgresql)}", nodes.postgresql)


ROWS = {16: row_16, 18: row_18}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    return why_not_started(build, "postgresql", "--postgresql", "rows 16 and 18 of PostgreSQL",
                           "PostgreSQL", lambda nodes: version(nodes.postgresql))
