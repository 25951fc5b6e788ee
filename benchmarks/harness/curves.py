"""Measures the curves of the plots: one figure against another, for several clients."""

from figures import spread
from leases import TTL_MS, hold
from processes import Nodes
from programs import holdfast, interleaved, wire_limit


def sweep(clients, points, repetitions, run):
    """Returns name -> list of {x, rate, cpu_us}; `run(client, x)` returns one measurement."""
    curves = {client.name: [] for client in clients}
    for x in points:
        able = [client for client in clients if x <= client.most]
        results = interleaved(
            {client.name: lambda client=client: run(client, x) for client in able}, repetitions)
        for name, rows in results.items():
            curves[name].append({
                "x": x, "rate": spread([row["rate"] for row in rows]),
                "cpu_us": spread([row["cpu_us"] for row in rows])})
    return curves


def concurrency(plan):
    clients = [wire_limit(plan.build), holdfast(plan.build), *plan.peers]
    with Nodes(plan.build) as nodes:
        return sweep(clients, plan.concurrencies, plan.curve_repetitions,
                     lambda client, x: client.run(nodes.servers, x, plan.curve_ms,
                                                  plan.curve_warm_up_ms))


def nodes(plan):
    clients = [wire_limit(plan.build), holdfast(plan.build),
               *[client for client in plan.peers if client.nodes is None]]
    with Nodes(plan.build, "--count=7") as up:
        return sweep(clients, (1, 3, 5, 7), plan.curve_repetitions,
                     lambda client, x: client.run(up.servers[:x], 256, plan.curve_ms,
                                                  plan.curve_warm_up_ms))


def waiting(plan):
    client = holdfast(plan.build)
    curve = []
    with Nodes(plan.build) as up:
        for waiters in plan.waiters:
            rows = [client.run(up.servers, waiters, plan.curve_ms, shared=True, latency=True)
                    for _ in range(plan.curve_repetitions)]
            curve.append({"x": waiters, **{
                name: spread([row[f"acquire_us_{name}"] / 1000 for row in rows])
                for name in ("p50", "p99", "max")}})
    return {"holdfast": curve}


def leases(plan):
    curve = []
    with Nodes(plan.build) as up:
        for count in plan.leases:
            row = hold(plan, up.servers, count, TTL_MS, plan.curve_hold_ms)
            curve.append({"x": count, "cores": 100 * row["cores"],
                          "resident_mib": row["resident_bytes"] / 2**20,
                          "lost": max(row["lost"], row["not_held"])})
    return {"holdfast": curve}
