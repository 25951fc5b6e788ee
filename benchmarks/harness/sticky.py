"""Row 20: a lease that lingers, beside one that is given back."""

from figures import Measure, Row, median, ratios
from orders import BUYERS, rate
from programs import Nodes, interleaved, run_json
from recipes import Race

LINGER = {"linger": 10_000}


def again(plan, nodes, text, bound, **options):
    ways = {"lingers": {"how": "lock", **LINGER}, "given back": {"how": "lock"}}
    race = Race(plan, nodes, ways, concurrency=1, **options)
    return [race.rates(f"{text}: rate, ratio to without", "lingers", "given back", ">=", bound),
            race.cpu(f"{text}: CPU of the client, ratio to without", "lingers", "given back")]


def waits(plan, nodes):
    def run(how):
        return run_json([str(plan.build / "benchmarks" / "sticky_client")], nodes.servers,
                        {"how": how, "rounds": plan.run_ms // 2})

    results = interleaved({how: lambda how=how: run(how) for how in ("linger", "hand_over")},
                          plan.repetitions)

    def of(how, quantile):
        return [result[f"wait_us_{quantile}"] for result in results[how]]

    return [Measure(f"another locker wants it: {quantile} of its wait, ratio to a hand-over",
                    ratios(of("linger", quantile), of("hand_over", quantile)),
                    "<=" if quantile == "p99" else None, 2 if quantile == "p99" else None,
                    absolute=f"{median(of('linger', quantile)):,.0f} and "
                    f"{median(of('hand_over', quantile)):,.0f} us")
            for quantile in ("p50", "p99")]


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
