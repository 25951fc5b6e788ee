"""Rows 6 and 18: many leases that are held, and renewed, at once."""

from figures import Measure, Row, median, spread
from processes import Nodes, run_json

HELD = 100_000
TTL_MS = 30_000  # for which the bound of the CPU is


def hold(plan, urls, leases, ttl_ms, milliseconds):
    return run_json([str(plan.build / "benchmarks" / "lease_holder")], urls,
                    {"leases": leases, "ttl": ttl_ms, "length": milliseconds})


def hold_many(plan, urls):
    return [hold(plan, urls, HELD, plan.ttl_ms, plan.hold_ms) for _ in range(plan.holds)]


def work(plan, store=""):
    return f"{HELD:,} leases held at ttl {plan.ttl_ms / 1000:g} s{store}"


def cpu(plan, results, bound):
    renewals = median([result["renewals"] for result in results])
    told = f"{renewals:,.0f} renewals in {plan.hold_ms / 1000:g} s"
    judged = ("<=", bound)
    if plan.ttl_ms != TTL_MS:
        judged = (None, None)
        told += f"; the bound is for a ttl of {TTL_MS / 1000:g} s"
    return Measure("CPU, of one core", spread([100 * result["cores"] for result in results]),
                   *judged, "%", told)


def lost(plan, results):
    return Measure(f"leases lost, each held for {plan.hold_ms / plan.ttl_ms:g} ttl",
                   spread([max(result["lost"], result["not_held"]) for result in results]), "<=", 0,
                   every=True)


def row_6(plan):
    with Nodes(plan.build) as nodes:
        results = hold_many(plan, nodes.servers)
    return Row(6, work(plan), [
        cpu(plan, results, 10),
        Measure("resident memory per lease",
                spread([result["resident_bytes_each"] for result in results]), "<=", 1024,
                "bytes", "allocated "
                f"{median([result['allocated_bytes_each'] for result in results]):,.0f}"),
        lost(plan, results)])


def held(plan, store, urls):
    """Row 18, in one store."""
    results = hold_many(plan, urls)
    return Row(18, work(plan, f" in {store}"), [cpu(plan, results, 1), lost(plan, results)])
