#!/usr/bin/env python3
"""Tables of a map that was run with several sets of seeds: each cell has the range over the sets.

    dropcast-lab map lab/maps/senders.toml -o runs/senders                   # and with other seeds in the file
    lab/benches/map_tables.py runs/senders/map.json runs/senders-601/map.json
    lab/benches/map_tables.py runs/*/map.json --measure incast_over_10_ms --scale 100 --policies dt:alpha=8 lqd spare-tails

Without --measure: in how many pairs of a point and a measure each policy is better, and worse, than each rival, by set.
With it: that measure at each point, of the best policy that predicts nothing (chosen on other runs) and of others.
With --pair OF THAN: in how many pairs OF is better than THAN and worse, by set, and where: paired t-tests over the runs at a
false discovery rate of 5%, as maps compare with rivals. It needs scipy.
Markdown on standard output.
"""

import argparse
import json

RIVALS = {
    "best alpha": "over_alpha",
    "best plain": "over_plain",
    "LQD": "over_lqd",
    "its base": "over_base",
}


def row(cells):
    print("| " + " | ".join(cells) + " |")


def header(cells):
    row(cells)
    print("|" + "---|" * len(cells))


def counts(maps):
    header(["policy", *(f"{name}: {verdict}" for name in RIVALS for verdict in ("better", "worse"))])
    for policy in [own["policy"] for own in maps[0]["tally"]["policies"]]:
        cells = []
        for rival in RIVALS.values():
            of_sets = [
                next(own for own in one["tally"]["policies"] if own["policy"] == policy)[rival] for one in maps
            ]
            for count in ("better", "worse"):
                cells.append(", ".join("-" if own is None else str(own[count]) for own in of_sets))
        row([policy, *cells])
    print(f"\n{', '.join(str(one['tally']['pairs']) for one in maps)} pairs")


def better_in_something(maps, policy, rival, points_only):
    """At how many points a policy is better than a rival in some measure and worse in none, by set."""
    found = []
    for one in maps:
        points = [point for point in one["points"] if points_only(point)]
        good = 0
        for point in points:
            verdicts = [
                (own[rival] or {}).get("verdict")
                for finding in point["findings"]
                for own in finding["policies"]
                if own["policy"] == policy
            ]
            good += "better" in verdicts and "worse" not in verdicts
        found.append((good, len(points)))
    return found


def worse_where(maps, policy, rival):
    """The points and measures in which a policy is worse than a rival: how many sets say so."""
    places = {}
    for one in maps:
        for point in one["points"]:
            for finding in point["findings"]:
                for own in finding["policies"]:
                    over = own[rival]
                    if own["policy"] == policy and over and over["verdict"] == "worse":
                        best = finding["best_alpha" if rival == "over_alpha" else "best_plain"]
                        place = (name(point), finding["measure"])
                        share = "from 0" if over["relative"] is None else f"{over['relative']:+.0%}"
                        places.setdefault(place, []).append(f"{share} {best}")
    return places


def name(point):
    return ", ".join(f"{axis} {value}" for axis, value in point["condition"]["at"])


def paired(point, measure, of, than):
    """The p value of a paired t-test, and whether `of` is better; means are of the runs that both have."""
    from scipy import stats

    runs = {own["policy"]: own["measures"][measure]["runs"] for own in point["values"] if own["policy"] in (of, than)}
    both = [(one, other) for one, other in zip(runs[of], runs[than], strict=True) if None not in (one, other)]
    if len(both) < 2:
        return None
    means = [sum(values) / len(both) for values in zip(*both, strict=True)]
    is_same = len({one - other for one, other in both}) == 1
    p = float(means[0] == means[1]) if is_same else stats.ttest_rel(*zip(*both, strict=True)).pvalue
    return p, (means[0] > means[1]) == (measure == "goodput_bps"), means


def compare(maps, of, than):
    for number, one in enumerate(maps, 1):
        pairs = [
            (found, f"{name(point)}, {measure}")
            for point in one["points"]
            for measure in one["settings"]["measures"]
            if (found := paired(point, measure, of, than))
        ]
        pairs.sort(key=lambda pair: pair[0][0])
        passed = [at for at, ((p, *_), _) in enumerate(pairs, 1) if p <= 0.05 * at / len(pairs)]
        sure = pairs[: max(passed, default=0)]
        better = sum(is_better for (_, is_better, _), _ in sure)
        print(f"set {number}: better in {better}, worse in {len(sure) - better} of {len(pairs)}")
        for (_, is_better, means), place in sure:
            print(f"- {'better' if is_better else 'worse'}: {place}: {means[0]:.4g} for {means[1]:.4g}")


def shown(value):
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def span(values):
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    low, high = shown(min(values)), shown(max(values))
    return low if low == high else f"{low} to {high}"


def mean(point, policy, measure, scale):
    for own in point["values"]:
        if own["policy"] == policy:
            found = own["measures"][measure]["mean"]
            return None if found is None else found["mean"] * scale
    return None


def table(maps, measure, scale, policies):
    header(["point", "best plain", *policies])
    for points in zip(*(one["points"] for one in maps), strict=True):
        best = []
        for point in points:
            finding = next(own for own in point["findings"] if own["measure"] == measure)
            best.append(mean(point, finding["best_plain"], measure, scale))
        others = [span([mean(point, policy, measure, scale) for point in points]) for policy in policies]
        row([name(points[0]), span(best), *others])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maps", nargs="+", help="map.json of each set of seeds")
    parser.add_argument("--measure", help="a table of this measure, in place of the counts")
    parser.add_argument("--scale", type=float, default=1.0, help="what values are multiplied by: 100 for shares in %%")
    parser.add_argument("--policies", nargs="+", default=["lqd"], help="columns beside the best")
    parser.add_argument("--worse", help="where this policy is worse than the best alpha, and than the best plain one")
    parser.add_argument("--least-burst", type=float, default=1.0, help="with --worse: points that LQD is compared at")
    parser.add_argument("--pair", nargs=2, metavar=("OF", "THAN"), help="compare two policies with each other")
    args = parser.parse_args()
    maps = [json.load(open(path)) for path in args.maps]
    if args.measure:
        table(maps, args.measure, args.scale, args.policies)
    elif args.pair:
        compare(maps, *args.pair)
    elif args.worse:
        for rival in ("over_alpha", "over_plain"):
            print(f"\n{rival}:")
            for (place, measure), sets in sorted(worse_where(maps, args.worse, rival).items()):
                print(f"- {place}, {measure}: {'; '.join(sets)}")

        def overflows(point):
            return any(axis == "burst" and float(value) >= args.least_burst for axis, value in point["condition"]["at"])

        print("\nbetter than LQD in something and worse in nothing, of points with such bursts:")
        print(", ".join(f"{good} of {of}" for good, of in better_in_something(maps, args.worse, "over_lqd", overflows)))
    else:
        counts(maps)


if __name__ == "__main__":
    main()
