"""Rows 1 to 5, 9, 11 and 21: the library compared with the wire limit, with other libraries, and
with itself: with nodes that are slow or down, with fencing tokens, with threads, over TLS."""

from figures import Measure, Row, median, ratios, spread
from processes import Nodes
from programs import holdfast, interleaved, wire_limit


def of(results, name, figure):
    return [result[figure] for result in results[name]]


def many(value):
    return f"{value:,.0f}"


def beside(results, name, figure, unit):
    """Text like 'holdfast 60,000, wire limit 80,000 locks/s'."""
    ours, theirs = (median(of(results, n, figure)) for n in ("holdfast", name))
    precise = many if ours >= 100 else lambda value: f"{value:.2f}"
    return f"holdfast {precise(ours)}, {name} {precise(theirs)} {unit}"


def race(plan, clients, concurrency, urls):
    latency = {"latency": True} if concurrency == 1 else {}
    runs = {client.name: lambda client=client: client.run(
        urls, concurrency, plan.peer_ms, plan.warm_up_ms, **latency) for client in clients}
    return interleaved(runs, plan.peer_repetitions)


def peer_table(clients, several, one):
    """The results of each client, for the table of libraries."""
    table = []
    for client in clients:
        reference = "holdfast" if client.nodes is None else f"holdfast, {client.nodes} node"
        table.append({
            "name": client.name, "settings": client.settings,
            "rate_256": spread(of(several, client.name, "rate")),
            "cpu_us_256": spread(of(several, client.name, "cpu_us")),
            "ratio_256": ratios(of(several, reference, "rate"), of(several, client.name, "rate")),
            "compared_with": reference,
            "cycle_us_1": spread(of(one, client.name, "cycle_us_p50")),
            "cpu_us_1": spread(of(one, client.name, "cpu_us"))})
    return table


def rows_1_to_3(plan):
    ours, wire = holdfast(plan.build), wire_limit(plan.build)
    clients = [wire, ours, holdfast(plan.build, nodes=1), *plan.peers]
    with Nodes(plan.build) as nodes:
        several = race(plan, clients, 256, nodes.servers)
        one = race(plan, clients, 1, nodes.servers)

    def ratio(results, figure, name=wire.name):
        return ratios(of(results, "holdfast", figure), of(results, name, figure))

    first = [Measure("locks/s, ratio to the wire limit", ratio(several, "rate"), ">=", 0.95,
                     absolute=beside(several, wire.name, "rate", "locks/s"))]
    if "node-redlock" in several:
        first.append(Measure("locks/s, ratio to node-redlock",
                             ratio(several, "rate", "node-redlock"),
                             ">=", 10,
                             absolute=beside(several, "node-redlock", "rate", "locks/s")))
    second = Measure("median latency, ratio to the wire limit", ratio(one, "cycle_us_p50"), "<=",
                     1.12, absolute=beside(one, wire.name, "cycle_us_p50", "us"))
    third = Measure("CPU of the client, ratio to the wire limit", ratio(several, "cpu_us"), "<=",
                    2.3, absolute=beside(several, wire.name, "cpu_us", "us"))
    return [Row(1, "256 coroutines, distinct resources, acquire + release", first),
            Row(2, "one coroutine, acquire + release", [second]),
            Row(3, "CPU of the client per acquire + release, 256 coroutines", [third]),
            ], peer_table(clients, several, one)


def row_4(plan):
    client = holdfast(plan.build)
    measures = []
    with Nodes(plan.build, "--slow=2", "--delay=50") as nodes:
        # The healthy nodes are measured through proxies too, because on a small machine proxies
        # take CPU time from the nodes.
        nodes_of = {"late": nodes.servers[:3] + nodes.slow,
                    "healthy": nodes.servers[:3] + nodes.prompt, "direct": nodes.servers}
        for concurrency, text in ((1, "one coroutine"), (256, "256 coroutines")):
            results = interleaved({
                name: lambda urls=urls: client.run(urls, concurrency, plan.run_ms, latency=True)
                for name, urls in nodes_of.items()}, plan.repetitions)
            p50 = {name: of(results, name, "acquire_us_p50") for name in results}
            measures += [
                Measure(f"acquire p50, ratio to 5 healthy nodes, {text}",
                        ratios(p50["late"], p50["healthy"]),
                        "<=", 1.5, absolute=f"{many(median(p50['late']))} and "
                        f"{many(median(p50['healthy']))} us"),
                Measure("the same, ratio to 5 healthy nodes without proxies",
                        ratios(p50["late"], p50["direct"]), "<=", 1.5,
                        absolute=f"{many(median(p50['direct']))} us")]
    return Row(4, "2 of 5 nodes answer 50 ms late, through a proxy", measures)


def row_5(plan):
    client = holdfast(plan.build)
    with Nodes(plan.build, "--count=3", "--refused=2", "--black-holes=2") as nodes:
        def run(others):
            return lambda: client.run(nodes.servers + others, 256, plan.run_ms)

        results = interleaved({"three": run([]), "refused": run(nodes.refused),
                               "black holes": run(nodes.black_holes)}, plan.repetitions)
    rates = {name: of(results, name, "rate") for name in results}
    return Row(5, "2 of 5 nodes down, 256 coroutines", [
        Measure(f"locks/s, ratio to 3 nodes alone, {text}", ratios(rates[name], rates["three"]),
                ">=", 0.9, absolute=f"{many(median(rates[name]))} and "
                f"{many(median(rates['three']))} locks/s")
        for name, text in (("refused", "connections refused"),
                           ("black holes", "black holes"))])


def row_9(plan):
    client = holdfast(plan.build)
    options = {"plain": {}, "fenced": {"fenced": True}, "fresh": {"fenced": True, "fresh": True}}
    with Nodes(plan.build) as nodes:
        results = interleaved({
            name: lambda o=o: client.run(nodes.servers, 256, plan.run_ms, **o)
            for name, o in options.items()}, plan.repetitions)
    rates = {name: of(results, name, "rate") for name in results}
    cpu = {name: of(results, name, "cpu_us") for name in results}
    # Each second round sends at least one request beyond those of an acquire and a release.
    more = {name: spread([100 * result["more_requests"] / result["all_locks"]
                          for result in results[name]]) for name in results}
    requests = "upper bound of second rounds: requests beyond acquire and release"
    return Row(9, "row 1 in fenced mode", [
        Measure("locks/s, ratio to plain mode", ratios(rates["fenced"], rates["plain"]), ">=", 0.7,
                absolute=f"{many(median(rates['fenced']))} and "
                f"{many(median(rates['plain']))} locks/s"),
        Measure("CPU of the client, ratio to plain mode", ratios(cpu["fenced"], cpu["plain"]),
                "<=", 1.35,
                absolute=f"{median(cpu['fenced']):.2f} and {median(cpu['plain']):.2f} us"),
        Measure(requests, more["fenced"], "<", 1, "%",
                f"in plain mode {more['plain']['median']:.2g} %"),
        Measure("the same, each resource used for the first time", more["fresh"], "<", 1, "%")])


def row_21(plan):
    client = holdfast(plan.build)
    with Nodes(plan.build, "--tls") as nodes:
        def run(concurrency, urls, **options):
            latency = {"latency": True} if concurrency == 1 else {}
            return lambda: client.run(urls, concurrency, plan.run_ms, **latency, **options)

        options = {"ca-file": nodes.ca_file}
        several, one = (interleaved({"plain": run(n, nodes.servers),
                                     "tls": run(n, nodes.tls, **options)}, plan.repetitions)
                        for n in (256, 1))
    rates, cpu = ({name: of(several, name, figure) for name in several}
                  for figure in ("rate", "cpu_us"))
    latency = {name: of(one, name, "cycle_us_p50") for name in one}
    return Row(21, "rows 1 to 3 over TLS", [
        Measure("256 coroutines: locks/s, ratio to plain text",
                ratios(rates["tls"], rates["plain"]), None, None,
                absolute=f"{many(median(rates['tls']))} and "
                f"{many(median(rates['plain']))} locks/s"),
        Measure("256 coroutines: CPU of the client, ratio to plain text",
                ratios(cpu["tls"], cpu["plain"]), None, None,
                absolute=f"{median(cpu['tls']):.2f} and {median(cpu['plain']):.2f} us"),
        Measure("one coroutine: median latency, ratio to plain text",
                ratios(latency["tls"], latency["plain"]), None, None,
                absolute=f"{many(median(latency['tls']))} and "
                f"{many(median(latency['plain']))} us")])


def threads(plan):
    """Row 11: two threads, with one locker or each with its own."""
    client = holdfast(plan.build)
    measures = []
    for count in (5, 1):
        options = {"one": {}, "shared": {"threads": 2},
                   "each": {"threads": 2, "locker-each": True}}
        with Nodes(plan.build, f"--count={count}") as nodes:
            results = interleaved({
                name: lambda o=o: client.run(nodes.servers, 256, plan.run_ms, **o)
                for name, o in options.items()}, plan.repetitions)
        text = f"{count} node{'s' if count > 1 else ''}"
        for name, how in (("shared", "one shared locker"), ("each", "one locker per thread")):
            for figure, what, unit in (("rate", "locks/s", "locks/s"), ("cpu_us", "CPU", "us")):
                values, alone = of(results, name, figure), of(results, "one", figure)
                precise = many if figure == "rate" else lambda value: f"{value:.2f}"
                measures.append(Measure(
                    f"{text}, {how}: {what}, ratio to one thread", ratios(values, alone), None,
                    None,
                    absolute=f"{precise(median(values))} and {precise(median(alone))} {unit}"))
    return Row(11, "two threads, 256 coroutines", measures)
