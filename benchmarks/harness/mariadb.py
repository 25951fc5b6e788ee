"""Rows 18 and 27: locks in MariaDB, beside those that one makes there without the library, on the
same server."""

from figures import Row
from leases import held
from machine import keeps_data
from processes import Nodes, run_json
from programs import Client
from stores import beside, contests, why_not_started

# Other ways to lock, what they are called in the table, and their fastest number of connections
# where that is not the number of locks in flight.
PEERS = {"statement": ("one statement a lock, a connection for each lock in flight", None),
         "get_lock": ("GET_LOCK(), 16 connections", 16),
         "for_update": ("SELECT ... FOR UPDATE, 16 connections", 16)}


def command(build, kind):
    return [str(build / "benchmarks" / "mariadb_locks"), f"--kind={kind}"]


def version(build, urls):
    return run_json(command(build, "statement") + ["--version"], urls, {})["version"]


def peers(build):
    clients = {}
    for kind, (name, connections) in PEERS.items():
        fewer = [f"--connections={connections}"] if connections else []
        clients[kind] = Client(name, command(build, kind), "", several=fewer)
    return clients


def contenders(build):
    return {"get_lock": ("GET_LOCK()", command(build, "get_lock")),
            "for_update": ("SELECT ... FOR UPDATE", command(build, "for_update"))}


def row_27(plan):
    with Nodes(plan.build, "--count=1", "--mysql") as nodes:
        urls = nodes.mysql
        return Row(27, f"MariaDB {version(plan.build, urls)}, which {keeps_data()}",
                   beside(plan, urls, peers(plan.build), {}) +
                   contests(plan, urls, contenders(plan.build)))


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--mysql") as nodes:
        return held(plan, f"MariaDB {version(plan.build, nodes.mysql)}", nodes.mysql)


ROWS = {18: row_18, 27: row_27}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    return why_not_started(build, "mysql", "--mysql", "rows 18 and 27 of MariaDB", "MariaDB")
