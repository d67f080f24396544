"""Plots are figures of matplotlib that show what they say."""

import pytest
from needs import needed

import dropcast

needed("matplotlib")

from dropcast import plots  # noqa: E402


def test_reports_are_drawn(trace):
    # By the default rule no drop is predicted on these rows: there is no precision.
    model = dropcast.train(trace, vote="f1")
    report = dropcast.report(trace, model=model)
    axes = plots.pr_curve(report).axes[0]
    point = axes.lines[1].get_xydata()[0]
    assert point.tolist() == [report["prediction"]["recall"], report["prediction"]["precision"]]
    bars = plots.importance(report.to_dict()).axes[0]
    assert sorted(label.get_text() for label in bars.get_yticklabels()) == sorted(model.features)
    with pytest.raises(dropcast.InputError, match="has no curve; measure a model"):
        plots.pr_curve(dropcast.report(trace))


def test_a_timeline_has_every_packet(trace):
    arrivals, drops = plots.timeline(trace, bins=50).axes[0].lines
    assert sum(arrivals.get_ydata()) == trace.collected["rows"]
    assert sum(drops.get_ydata()) == trace.collected["drops"]


def test_a_sweep_is_drawn(trace):
    found = dropcast.sweep({"axes": {"trees": [1, 4], "votes": ["f1"]}}, data=trace)
    every, front = plots.sweep_front(found).axes[0].lines
    assert len(every.get_xdata()) == 16 and len(front.get_xdata()) == len(found.pareto)
    with pytest.raises(dropcast.InputError, match="size: 'area' is unknown"):
        plots.sweep_front(found, size="area")
