"""Figures of repeated measurements: median, minimum and maximum."""


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values),
            "repetitions": len(values)}


def ratios(these, those):
    """The ratios of each repetition to the same repetition of the other."""
    return spread([a / b for a, b in zip(these, those)])


class Measure:
    """One figure of a row: a ratio or an amount, and its bound. The median is judged, or with
    `every` the worst repetition."""

    def __init__(self, what, values, relation, bound, unit="", absolute="", every=False):
        self.what, self.values, self.unit, self.absolute = what, values, unit, absolute
        self.relation, self.bound, self.every = relation, bound, every

    def judged(self):
        if not self.every:
            return self.values["median"]
        return self.values["min" if self.relation == ">=" else "max"]

    def reached(self):
        if self.relation is None:
            return None
        value = self.judged()
        if self.relation == ">=":
            return value >= self.bound
        return value < self.bound if self.relation == "<" else value <= self.bound

    def missed_by(self):
        """How far the judged value misses the bound, as a fraction of it; 0 if it does not."""
        if self.reached() is not False:
            return 0
        if self.bound == 0:
            return float("inf")
        return abs(self.judged() - self.bound) / self.bound

    def within_spread(self):
        """Whether some repetitions reach the bound and others do not."""
        return self.values["min"] < self.bound < self.values["max"]

    def as_json(self):
        return {"what": self.what, **self.values, "unit": self.unit, "relation": self.relation,
                "bound": self.bound, "every": self.every, "reached": self.reached(),
                "absolute": self.absolute}


class Row:
    """A row of the table of figures: the work, and its measures."""

    def __init__(self, number, work, measures):
        self.number, self.work, self.measures = number, work, measures

    def as_json(self):
        return {"row": self.number, "work": self.work,
                "measures": [measure.as_json() for measure in self.measures]}
