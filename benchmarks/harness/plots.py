"""Draws the curves with gnuplot as SVG and PNG, and keeps their data in the same folder."""

import shutil
import subprocess

# Each curve has its own point type, so that curves differ without colour too.
STYLES = {"wire limit": ("#555555", 4), "holdfast": ("#0060a8", 7), "node-redlock": ("#c04a00", 9),
          "sequential Redlock": ("#7a3f9d", 11), "redis-py Lock, 1 node": ("#2f7d32", 13),
          "wait 10 s": ("#0060a8", 7), "wait 1 s": ("#c04a00", 9),
          "wait 1 s, 10,000 waiting": ("#7a3f9d", 11),
          "offered, up to capacity": ("#555555", 4),
          "p50": ("#0060a8", 7), "p99": ("#c04a00", 9), "max": ("#555555", 4)}

WHITE = 'background rgb "white"'
TERMINALS = {
    "svg": f'set terminal svg size 900,480 font "Helvetica,15" {WHITE}',
    "png": f'set terminal pngcairo size 1350,720 font "Sans,16" {WHITE} linewidth 1.5',
}

COMMON = """set grid xtics ytics lc rgb "#dddddd" lt 1
set border 3 lc rgb "#333333"
set tics nomirror textcolor rgb "#333333"
set key outside right center vertical textcolor rgb "#333333"
set title "{title}" textcolor rgb "#111111"
set xlabel "{x}" textcolor rgb "#333333"
set ylabel "{y}" textcolor rgb "#333333"
set format x "{x_format}"
set format y "{y_format}"
"""


class Plot:
    def __init__(self, name, title, x, y, log="", x_format="%.0s%c", y_format="%.0s%c", extra=""):
        self.name, self.title, self.x, self.y = name, title, x, y
        self.log, self.x_format, self.y_format = log, x_format, y_format
        self.extra = extra
        self.series = []  # label, rows of (x, median, min, max), axes

    def add(self, label, points, axes="x1y1"):
        self.series.append((label, points, axes))

    def draw(self, folder):
        data = folder / f"{self.name}.dat"
        blocks = [f"# {label}\n" + "\n".join(" ".join(f"{v:.6g}" for v in p) for p in points)
                  for label, points, _ in self.series]
        data.write_text("\n\n\n".join(blocks) + "\n")
        for suffix, terminal in TERMINALS.items():
            script = "\n".join([
                terminal, f'set output "{self.name}.{suffix}"',
                COMMON.format(title=self.title, x=self.x, y=self.y, x_format=self.x_format,
                              y_format=self.y_format),
                f"set logscale {self.log}" if self.log else "", self.extra,
                "plot " + ", \\\n    ".join(self.curves(data.name))])
            subprocess.run(["gnuplot"], input=script, text=True, cwd=folder, check=True)

    def curves(self, data):
        for i, (label, _, axes) in enumerate(self.series):
            colour, point = STYLES.get(label, (("#0060a8", "#c04a00")[i % 2], (7, 9)[i % 2]))
            where = f'"{data}" index {i}'
            yield (f'{where} using 1:2:3:4 axes {axes} with yerrorbars lc rgb "{colour}" '
                   f"pt {point} ps 0.9 notitle")
            yield (f'{where} using 1:2 axes {axes} with linespoints lw 2 lc rgb "{colour}" '
                   f'pt {point} ps 0.9 title "{label}"')


def points(curve, figure):
    return [(p["x"], p[figure]["median"], p[figure]["min"], p[figure]["max"]) for p in curve]


def of_clients(name, title, x, y, curves, figure, log, **options):
    plot = Plot(name, title, x, y, log, **options)
    for label, curve in curves.items():
        plot.add(label, points(curve, figure))
    return plot


def concurrency(curves):
    in_flight = "locks in flight"
    yield of_clients("throughput_concurrency", "Acquire + release, distinct resources, 5 nodes",
                     in_flight, "locks/s", curves, "rate", "xy")
    yield of_clients("cpu_concurrency", "CPU of the client, distinct resources, 5 nodes", in_flight,
                     "microseconds per acquire + release", curves, "cpu_us", "xy", y_format="%g")


def nodes(curves):
    yield of_clients("throughput_nodes", "Acquire + release, 256 in flight", "nodes", "locks/s",
                     curves, "rate", "y", extra="set xtics (1,3,5,7)")
    yield of_clients("cpu_nodes", "CPU of the client, 256 in flight", "nodes",
                     "microseconds per acquire + release", curves, "cpu_us", "y",
                     y_format="%g", extra="set xtics (1,3,5,7)")


def waiting(curves):
    waits = Plot("wait_waiters", "Wait for one resource, holdfast, one process, 5 nodes",
                 "coroutines that acquire it repeatedly", "wait, milliseconds", "xy",
                 y_format="%g")
    for figure in ("p50", "p99", "max"):
        waits.add(figure, points(curves["holdfast"], figure))
    yield waits


def leases(curves):
    held = Plot("cost_leases", "Leases held and renewed, holdfast, ttl 30 s, 5 nodes",
                "leases held", "CPU, % of one core", "xyy2", y_format="%g",
                extra='set y2tics nomirror\nset border 11\nset format y2 "%g"\n'
                      'set y2label "resident memory of the process, MiB" textcolor rgb "#333333"')
    rows = curves["holdfast"]
    for label, figure, axes in (("CPU", "cores", "x1y1"), ("memory", "resident_mib", "x1y2")):
        held.add(label, [(row["x"], row[figure], row[figure], row[figure]) for row in rows], axes)
    yield held


def overload(curves):
    plot = of_clients("goodput_offered", "Leases granted within their wait, one process, 3 nodes",
                      "arrivals per second / capacity (row 1)", "goodput / capacity", curves,
                      "good", "x", x_format="%g", y_format="%g", extra="set yrange [0:*]")
    offered = [point["x"] for point in next(iter(curves.values()))]
    plot.add("offered, up to capacity", [(x, *[min(x, 1)] * 3) for x in offered])
    yield plot


# The function that draws each kind of curves.
DRAWN = {"concurrency": concurrency, "nodes": nodes, "waiting": waiting, "leases": leases,
         "overload": overload}


def draw_all(curves, folder):
    """Returns the names and titles of the plots, and why others could not be drawn."""
    if shutil.which("gnuplot") is None:
        return [], ["plots: gnuplot is not installed"]
    names, not_drawn = [], []
    for name, of_curves in curves.items():
        for plot in DRAWN[name](of_curves):
            try:
                plot.draw(folder)
                names.append((plot.name, plot.title))
            except (OSError, subprocess.SubprocessError) as error:
                not_drawn.append(f"the plot {plot.name}: {error}")
    return names, not_drawn
