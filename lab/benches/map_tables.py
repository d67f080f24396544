#!/usr/bin/env python3
"""Tables of a map that was run with several sets of seeds: each cell has the range over the sets.

    dropcast-lab map lab/maps/senders.toml -o runs/senders-501               # and with other seeds in the file
    lab/benches/map_tables.py runs/senders-*/map.json --without idealised
    lab/benches/map_tables.py runs/senders-*/map.json --measure incast_slowdown_mean --policies dt:alpha=16 lqd

Without --measure: in how many pairs of a point and a measure each policy is better, and worse, than the best alpha, the best that
predicts nothing and pushes nothing out (both chosen on other runs), and the policies of --than, by set or pooled: paired t-tests over the runs at a
false discovery rate of 5% (Benjamini and Hochberg), as maps compare; it needs scipy. With --measure: that measure at each point.
Markdown on standard output.
"""

import argparse
import json

RIVALS = {"the best alpha": "best_alpha", "the best of all that predict nothing": "best_plain"}


def row(cells):
    print("| " + " | ".join(cells) + " |")


def header(cells):
    row(cells)
    print("|" + "---|" * len(cells))


def name(point):
    return ", ".join(f"{axis} {value}" for axis, value in point["condition"]["at"])


def gains(one, place, measure, policy, rival):
    """How much better a policy is than a rival in each run that both have."""
    point = one["points"][place]
    values = {own["policy"]: own["measures"][measure]["runs"][: one["settings"]["runs"]] for own in point["values"]}
    if rival is None:
        return []
    both = [pair for pair in zip(values[policy], values[rival], strict=True) if None not in pair]
    return [ours - theirs if measure == "goodput_bps" else theirs - ours for ours, theirs in both]


def tested(found):
    """The p value of a paired t-test, and whether the policy is better; none without two runs."""
    from scipy import stats

    if len(found) < 2:
        return None
    same = len(set(found)) == 1
    return float(found[0] == 0) if same else stats.ttest_1samp(found, 0).pvalue, sum(found) > 0


def count(maps, policy, rival, without):
    """In how many pairs of a point and a measure a policy is better, and worse, in the runs of these sets together."""
    found = []
    for place, point in enumerate(maps[0]["points"]):
        if point["condition"]["grid"] in without:
            continue
        for number, finding in enumerate(point["findings"]):
            rivals = [one["points"][place]["findings"][number].get(rival, rival) for one in maps]
            all_gains = [gains(one, place, finding["measure"], policy, own) for one, own in zip(maps, rivals, strict=True)]
            found.append(tested(sum(all_gains, [])))
    found = sorted(pair for pair in found if pair)
    sure = max((at for at, (p, _) in enumerate(found, 1) if p <= 0.05 * at / len(found)), default=0)
    better = sum(is_better for _, is_better in found[:sure])
    return better, sure - better


def counts(maps, without, pooled, than):
    rivals = RIVALS | {policy: policy for policy in than}
    header(["policy", *(f"than {name}: {verdict}" for name in rivals for verdict in ("better", "worse"))])
    sets = [maps] if pooled else [[one] for one in maps]
    for policy in [own["policy"] for own in maps[0]["points"][0]["values"]]:
        cells = []
        for rival in rivals.values():
            by_set = [count(those, policy, rival, without) for those in sets]
            cells += [", ".join(str(found[which]) for found in by_set) for which in (0, 1)]
        row([policy, *cells])
    grids = maps[0]["points"]
    points = sum(point["condition"]["grid"] not in without for point in grids)
    print(f"\n{points} points x {len(grids[0]['findings'])} measures")


def shown(value):
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def span(values):
    texts = [shown(value) for value in sorted(value for value in values if value is not None)]
    return "" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]}-{texts[-1]}"


def table(maps, measure, scale, policies):
    header(["", *policies])
    for points in zip(*(one["points"] for one in maps), strict=True):

        def mean(point, policy):
            found = next(own for own in point["values"] if own["policy"] == policy)["measures"][measure]["mean"]
            return None if found is None else found["mean"] * scale

        row([name(points[0]), *(span([mean(point, policy) for point in points]) for policy in policies)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maps", nargs="+", help="map.json of each set of seeds")
    parser.add_argument("--without", nargs="+", default=[], help="grids that are not counted")
    parser.add_argument("--pooled", action="store_true", help="count in the runs of all sets together")
    parser.add_argument("--than", nargs="+", default=["lqd"], help="policies that each is compared with, too")
    parser.add_argument("--measure", help="a table of this measure, in place of the counts")
    parser.add_argument("--scale", type=float, default=1.0, help="what values are multiplied by: 100 for shares in %%")
    parser.add_argument("--policies", nargs="+", default=["lqd"], help="columns of --measure")
    args = parser.parse_args()
    maps = [json.load(open(path)) for path in args.maps]
    if args.measure:
        table(maps, args.measure, args.scale, args.policies)
    else:
        counts(maps, args.without, args.pooled, args.than)


if __name__ == "__main__":
    main()
