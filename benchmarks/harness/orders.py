"""Row 19: orders for one item, in batches, one lease for each, or by a script without a lock."""

import subprocess

from figures import Measure, Row, median, ratios
from processes import Nodes, run_together
from programs import interleaved

BUYERS = 256
STOCK = 1_000_000_000
# Ways to order, and what they are called in the table.
WAYS = {"batch": "batches", "lease": "one lease each", "script": "script",
        "script_batch": "script, batched"}


def ask(url, *words):
    """The reply of a server."""
    return subprocess.run(["redis-cli", "-u", url, *words], stdout=subprocess.PIPE, text=True,
                          timeout=10, check=True).stdout.strip()


def rate(plan, nodes, how, processes, buyers=BUYERS, **more):
    """Orders per second of so many processes together. Fails if the stock does not have all orders,
    those outside of the measured time too."""
    shop = nodes.servers[5]
    ask(shop, "SET", "stock", str(STOCK))
    options = {"how": how, "shop": shop, "concurrency": buyers // processes,
               "length": plan.run_ms, **more}
    results = run_together([str(plan.build / "benchmarks" / "order_client")], nodes.servers[:5],
                           options, processes)
    made = sum(result["all_orders"] for result in results)
    sold = STOCK - int(ask(shop, "GET", "stock"))
    if made != sold:
        raise RuntimeError(f"{WAYS[how]}: {made:,} orders were made, and {sold:,} items were sold")
    return sum(result["orders"] / result["seconds"] for result in results)


def row_19(plan):
    measures = []
    with Nodes(plan.build, "--count=6") as nodes:
        for processes in (1, 4):
            rates = interleaved({
                how: lambda how=how: rate(plan, nodes, how, processes) for how in WAYS},
                plan.repetitions)
            absolute = ", ".join(f"{name} {median(rates[how]):,.0f}" for how, name in WAYS.items())
            text = f"{processes} process{'es' if processes > 1 else ''}"
            measures += [
                Measure(f"{text}: orders/s, ratio to a script that decrements",
                        ratios(rates["batch"], rates["script"]), ">=", 0.8,
                        absolute=f"{absolute} orders/s"),
                Measure(f"{text}: orders/s, ratio to one such script for each batch",
                        ratios(rates["batch"], rates["script_batch"]), None, None),
                Measure(f"{text}: orders/s, ratio to one lease for each order",
                        ratios(rates["batch"], rates["lease"]), ">=", 3)]
    return Row(19, f"orders for one item, {BUYERS} in flight, the stock in a server of its own",
               measures)
