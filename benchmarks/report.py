"""What the figures of a comparison say: medians, spread, ratios with their interval, a plot.

Results are {library: {"version": ..., "threads": ..., "times": {case: [nanoseconds, ...]}}}, the
library that the others are compared with first.
"""

import importlib.util
import math
import random
import statistics


def readable(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def spread(times):
    """Half the distance between the quartiles, in percent of the median."""
    if len(times) < 4:
        return 0.0
    low, _, high = statistics.quantiles(times, n=4)
    return 50 * (high - low) / statistics.median(times)


def ratio(ours, theirs):
    """Their median by ours, and the bounds between which 95 % of resampled ratios lie."""
    resample = random.Random(0)
    ratios = sorted(
        statistics.median(resample.choices(theirs, k=len(theirs)))
        / statistics.median(resample.choices(ours, k=len(ours)))
        for _ in range(1000)
    )
    return statistics.median(theirs) / statistics.median(ours), ratios[25], ratios[974]


def ratios(results):
    """{peer: {case: (ratio, low, high)}}."""
    first, *peers = results
    ours = results[first]["times"]
    return {
        peer: {
            case: ratio(ours[case], times)
            for case, times in results[peer]["times"].items()
            if case in ours
        }
        for peer in peers
    }


def table(results, markdown):
    first, *peers = results
    found = ratios(results)
    header = ["case"]
    for name in results:
        header += [name, "±"]
    header += [f"{peer} / ours" for peer in peers]
    rows = []
    for case in results[first]["times"]:
        row = [case]
        for name in results:
            times = results[name]["times"].get(case)
            row += (
                [readable(statistics.median(times)), f"{spread(times):.0f} %"]
                if times
                else ["-", ""]
            )
        for peer in peers:
            row.append("{:.2f} ({:.2f} to {:.2f})".format(*found[peer][case])
                       if case in found[peer] else "")
        rows.append(row)
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        for row in [header, *rows]
    ]
    if not markdown:
        return "\n".join("  ".join(line) for line in lines)
    rule = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])


def group(case):
    """`fixed` of `fixed/add`."""
    return case.split("/")[0]


def means(results):
    """A line for each peer and group of cases: the geometric mean of the ratios."""
    first = next(iter(results))
    lines = []
    for peer, found in ratios(results).items():
        for name in dict.fromkeys(map(group, found)):
            logs = [math.log(found[case][0]) for case in found if group(case) == name]
            mean = math.exp(statistics.fmean(logs))
            lines.append(f"{peer} / {first}, {name}: {mean:.2f}, the geometric mean of {len(logs)}")
    return lines


def can_plot():
    return importlib.util.find_spec("matplotlib") is not None


def plot(results, path, about):
    """The ratios of every case as points with their intervals, to PATH.png and PATH.svg."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    first = next(iter(results))
    found = ratios(results)
    cases = [c for c in results[first]["times"] if any(c in by for by in found.values())][::-1]
    versions = {peer: results[peer]["version"] for peer in found}
    labels = {peer: peer if v in peer else f"{peer} {v}" for peer, v in versions.items()}
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.19 * len(cases)), layout="constrained")
    for i, (peer, by_case) in enumerate(found.items()):
        shown = [c for c in cases if c in by_case]
        centres = [by_case[c][0] for c in shown]
        errors = [[max(0, by_case[c][0] - by_case[c][1]) for c in shown],
                  [max(0, by_case[c][2] - by_case[c][0]) for c in shown]]
        axes.errorbar(centres, [cases.index(c) + 0.12 * i for c in shown], xerr=errors, fmt="o",
                      markersize=3, linewidth=1, label=labels[peer])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(cases)), cases, fontsize=7)
    axes.set_ylim(-0.8, len(cases) - 0.2)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel(f"time of the other library by that of {first}: right of 1, {first} is faster")
    axes.set_title(about, fontsize=8)
    axes.legend(fontsize=8)
    for ending in ("png", "svg"):
        figure.savefig(path.with_name(f"{path.name}.{ending}"), dpi=150)
    pyplot.close(figure)
