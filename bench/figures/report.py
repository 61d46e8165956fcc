# SPDX-License-Identifier: Apache-2.0
"""The result of a run: a line per target, as text, as the table of docs/performance.md, and as a plot of the ratios."""
import statistics

from . import targets


def known(values):
    """Without those that failed."""
    return [value for value in values if value is not None]


def median(values):
    values = known(values)
    return statistics.median(values) if values else None


def spread(values):
    """Half the distance of the quartiles, in percent of the median."""
    values = known(values)
    if len(values) < 3 or not statistics.median(values):
        return 0.0
    quarters = statistics.quantiles(values, n=4)
    return (quarters[2] - quarters[0]) / 2 / statistics.median(values) * 100


def digits(value):
    return "%.0f" % value if value >= 1000 else "%.3g" % value


def strictest(target, figures):
    """What is wanted of ours by these figures of the peers, by name; None: none of them is known."""
    wanted = [factor * (figures[peer[0]] if peer else 1) for factor, *peer in target.bounds if not peer or figures[peer[0]] is not None]
    return (min if target.is_time else max)(wanted, default=None)


def ratio_of(target, ours, bound):
    """1 where the target is met exactly, above where it is exceeded; None: not known."""
    if ours is None or bound is None:
        return None
    if target.is_time:
        return bound / ours if ours else 99.0
    return ours / bound


class Line:
    """A target with what was measured for it in some turns (figures by name)."""

    def __init__(self, target, turns):
        figures = {name: [turn[name] for turn in turns] for name in targets.figures_of(target)}
        medians = {name: median(values) for name, values in figures.items()}
        self.target = target
        self.ours = medians[target.ours]
        self.spread = spread(figures[target.ours])
        self.bound = strictest(target, medians)
        self.peers = ["%s: %s" % (name, digits(medians[name])) for name in list(figures)[1:] if medians[name] is not None]
        self.ratio = median([ratio_of(target, turn[target.ours], strictest(target, turn)) for turn in turns])

    def cells(self):
        wanted = "-" if self.bound is None else ("<= " if self.target.is_time else ">= ") + digits(self.bound)
        ours = "-" if self.ours is None else "%s ±%.0f%%" % (digits(self.ours), self.spread)
        verdict = "-" if self.ratio is None else "%s (x%.2f)" % ("met" if self.ratio >= 1 else "NOT met", self.ratio)
        return [self.target.case, self.target.unit, ours, wanted, verdict, "; ".join(self.peers)]


HEADINGS = ["case", "unit", "softib", "wanted", "", "peers in the same run"]


def text(lines):
    rows = [HEADINGS, *(line.cells() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown(lines):
    rows = ["| " + " | ".join(cells) + " |" for cells in [HEADINGS, ["---"] * len(HEADINGS), *(line.cells() for line in lines)]]
    return "\n".join(rows)


def plot(lines):
    """Bars of the ratios on a logarithmic scale from 1/16 to 16; the line in the middle is the target."""
    import math

    known = [line for line in lines if line.ratio]
    row, left, half = 20, 300, 200
    height = row * len(known) + 40
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (left + 2 * half + 60, height)]
    parts.append('<rect width="100%" height="100%" fill="white"/>')
    middle = left + half
    for index, line in enumerate(known):
        y = 30 + index * row
        length = max(-1.0, min(1.0, math.log(line.ratio, 16))) * half
        x = middle + min(0.0, length)
        parts.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (left - 8, y + 12, line.target.case))
        parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (x, y + 2, abs(length), row - 6, "#2a7f3f" if line.ratio >= 1 else "#b3402a"))
        parts.append('<text x="%.1f" y="%d">x%.2f</text>' % (max(middle, middle + length) + 4, y + 12, line.ratio))
    parts.append('<line x1="%d" y1="24" x2="%d" y2="%d" stroke="black"/>' % (middle, middle, height - 8))
    parts.append('<text x="%d" y="16" text-anchor="middle">target</text>' % middle)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
