"""Row 19: orders for one item, in batches, one lease for each, or by a script without a lock."""

from figures import Measure, Row, median, ratios
from programs import Nodes, Running, interleaved

BUYERS = 256


def rate(plan, nodes, how, processes, buyers=BUYERS, **more):
    """Orders per second of so many processes together."""
    options = {"how": how, "shop": nodes.servers[5], "concurrency": buyers // processes,
               "length": plan.run_ms, **more}
    clients = [Running([str(plan.build / "benchmarks" / "order_client")], nodes.servers[:5], options)
               for _ in range(processes)]
    results = [client.result() for client in clients]
    return sum(result["orders"] / result["seconds"] for result in results)


def row_19(plan):
    measures = []
    with Nodes(plan.build, "--count=6") as nodes:
        for processes in (1, 4):
            rates = interleaved({
                how: lambda how=how: rate(plan, nodes, how, processes)
                for how in ("batch", "lease", "script")}, plan.repetitions)
            absolute = ", ".join(f"{name} {median(rates[how]):,.0f}" for how, name in (
                ("batch", "batches"), ("lease", "one lease each"), ("script", "script")))
            text = f"{processes} process{'es' if processes > 1 else ''}"
            measures += [
                Measure(f"{text}: orders/s, ratio to a script that decrements",
                        ratios(rates["batch"], rates["script"]), ">=", 0.8,
                        absolute=f"{absolute} orders/s"),
                Measure(f"{text}: orders/s, ratio to one lease for each order",
                        ratios(rates["batch"], rates["lease"]), ">=", 3)]
    return Row(19, f"orders for one item, {BUYERS} in flight, the stock in a server of its own",
               measures)
