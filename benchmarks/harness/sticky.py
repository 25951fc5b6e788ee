"""Row 20: a lease that lingers, beside one that is given back."""

from figures import Measure, Row, median, ratios
from orders import BUYERS, rate
from processes import Nodes, run_json
from programs import interleaved
from recipes import Race, on

LINGER = {"linger": 10_000}


def again(plan, nodes, text, bound, **options):
    ways = {"lingers": {"how": "lock", **LINGER}, "given back": {"how": "lock"}}
    race = Race(plan, on(nodes), ways, repetitions=plan.repetitions, concurrency=1, **options)
    return [race.rates(f"{text}: rate, ratio to without", "lingers", "given back", ">=", bound),
            race.cpu(f"{text}: CPU of the client, ratio to without", "lingers", "given back")]


def waits(plan, nodes):
    """The two round trips are those of an uncontended acquire and release, by the same visitor in
    the same run, at the same rhythm."""
    def run(how):
        return run_json([str(plan.build / "benchmarks" / "sticky_client")], nodes.servers,
                        {"how": how, "rounds": plan.run_ms // 2})

    results = interleaved({how: lambda how=how: run(how) for how in ("linger", "hand_over")},
                          plan.repetitions)

    def of(how, figure):
        return [result[figure] for result in results[how]]

    def compared(what, quantile, those, relation=None, bound=None):
        these = of("linger", f"wait_us_{quantile}")
        return Measure(f"another process wants it: {quantile} of its wait, ratio to {what}",
                       ratios(these, those), relation, bound,
                       absolute=f"{median(these):,.0f} and {median(those):,.0f} us")

    trips = "two round trips"
    return [compared(trips, "p50", of("linger", "round_trips_us_p50"), "<=", 1),
            compared(trips, "p99", of("linger", "round_trips_us_p99")),
            *[compared("a hand-over", quantile, of("hand_over", f"wait_us_{quantile}"))
              for quantile in ("p50", "p99")]]


def orders(plan, nodes, buyers, processes):
    rates = interleaved({
        name: lambda more=more: rate(plan, nodes, "lease", processes, buyers, **more)
        for name, more in (("lingers", LINGER), ("given back", {}))}, plan.repetitions)
    text = f"{processes} process{'es' if processes > 1 else ''}, {buyers} in flight"
    return Measure(f"orders for one item, {text}: rate, ratio to without",
                   ratios(rates["lingers"], rates["given back"]), None, None,
                   absolute=f"{median(rates['lingers']):,.0f} and "
                   f"{median(rates['given back']):,.0f} orders/s")


def row_20(plan):
    with Nodes(plan.build) as nodes:
        measures = again(plan, nodes, "one coroutine", 50)
        measures += again(plan, nodes, "one coroutine, with fencing tokens", 50, fenced=True)
        measures += waits(plan, nodes)
    with Nodes(plan.build, "--count=6") as nodes:
        measures += [orders(plan, nodes, buyers, processes)
                     for buyers, processes in ((1, 1), (BUYERS, 1), (4, 4), (BUYERS, 4))]
    return Row(20, "one resource again and again, with `linger`", measures)
