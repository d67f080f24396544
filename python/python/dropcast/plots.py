"""Plots, as figures of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dropcast.errors import InputError
from dropcast.stages import Report, Sweep
from dropcast.traces import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Sizes of a forest in the rows of a sweep (docs/sweep.md).
_SIZES = ("ternary_entries", "dct_bytes", "thresholds")


def pr_curve(report: Report | Mapping[str, Any]) -> Figure:
    """Precision against recall at every vote threshold, and where the model's is."""
    fields = _fields(report, "curve")
    drawn = [
        (point["recall"], point["precision"])
        for point in fields["curve"]["points"]
        if point["recall"] is not None and point["precision"] is not None
    ]
    figure, axes = _axes("recall", "precision")
    axes.step([at for at, _ in drawn], [at for _, at in drawn], where="post")
    chosen = fields["prediction"]
    if chosen["recall"] is not None and chosen["precision"] is not None:
        label = f"vote threshold {fields['model']['vote_threshold']}"
        axes.plot([chosen["recall"]], [chosen["precision"]], "o", label=label)
        axes.legend(loc="lower left")
    average = fields["curve"]["average_precision"]
    if average is not None:
        axes.set_title(f"average precision {average:.3f}")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    return figure


def importance(report: Report | Mapping[str, Any]) -> Figure:
    """How much average precision is lost when a feature's values are shuffled."""
    found = _fields(report, "importance")["importance"]["features"]
    known = [of for of in found if of["average_precision_loss"] is not None]
    known.sort(key=lambda of: of["average_precision_loss"]["mean"])
    figure, axes = _axes("loss of average precision", "")
    means = [of["average_precision_loss"]["mean"] for of in known]
    low = [of["average_precision_loss"]["mean"] - of["average_precision_loss"]["min"] for of in known]
    high = [of["average_precision_loss"]["max"] - of["average_precision_loss"]["mean"] for of in known]
    axes.barh([of["name"] for of in known], means, xerr=[low, high])
    return figure


def timeline(trace: Trace | Any, *, bins: int = 200) -> Figure:
    """Arrivals and what LQD drops of them over time."""
    found = Trace(trace)._trace.timeline(bins)
    start_ns, bin_ns, arrivals, drops = found
    at = [(start_ns + place * bin_ns) / 1e6 for place in range(len(arrivals))]
    figure, axes = _axes("time, ms", "packets")
    axes.step(at, arrivals, where="post", label="arrivals")
    axes.step(at, drops, where="post", label="dropped by LQD")
    axes.set_yscale("symlog")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right")
    return figure


def sweep_front(sweep: Sweep, *, size: str = "ternary_entries", part: str | None = None) -> Figure:
    """F1 against the size of every forest; the Pareto-optimal ones are marked."""
    if not sweep.rows:
        raise InputError("sweep: has no forests")
    known = [name for name in ("validation", "test", "train") if sweep.rows[0][name] is not None]
    part = known[0] if part is None else part
    if part not in known:
        raise InputError(f"part: {part!r} has no rows, expected one of {', '.join(known)}")
    if size not in _SIZES:
        raise InputError(f"size: {size!r} is unknown, expected one of {', '.join(_SIZES)}")
    figure, axes = _axes(size.replace("_", " "), f"F1 of {part} rows")

    def points(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
        scored = [(row[size], row[part]["f1"]) for row in rows]
        scored = [(at, f1) for at, f1 in scored if at is not None and f1 is not None]
        return [at for at, _ in scored], [f1 for _, f1 in scored]

    axes.plot(*points(sweep.rows), ".", color="0.7", label="all")
    front = sorted(sweep.pareto, key=lambda row: row[size] or 0)
    axes.plot(*points(front), "o", label="Pareto-optimal")
    axes.set_xscale("log")
    axes.legend(loc="lower right")
    return figure


def _fields(report: Report | Mapping[str, Any], section: str) -> Mapping[str, Any]:
    fields = report.to_dict() if isinstance(report, Report) else report
    if section not in fields:
        raise InputError(f"report: has no {section}; measure a model")
    return fields


def _axes(x: str, y: str) -> tuple[Figure, Any]:
    # Without pyplot: a figure belongs to its caller alone.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
