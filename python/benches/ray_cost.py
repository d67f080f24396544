"""What a training on a cluster costs, simulated round by round (docs/ray.md).

    python ray_cost.py
    python ray_cost.py --rows 1e12 --workers 1000 --count-rate 40e6

Each round: the driver puts the question, sends a task to each worker, workers count, answers are added up in a
tree of fan-in 16, the driver splits nodes. Workers differ in speed at random; the slowest decides. Rates are
those that benches/ray_overhead.py measures, per worker of one core; state your own.
"""

import argparse
import heapq
import math
import random

CLASSES, BINS = 2, 256


def counted_nodes(level):
    """Of two siblings only the smaller is counted, the other is their parent's rest."""
    return 1 if level == 0 else 2 ** (level - 1)


def integer_bytes(rows_in_cell):
    """CBOR: 1 byte below 24, then 2, 3, 5 and 9."""
    return next(size for size, most in ((1, 23), (2, 2**8), (3, 2**16), (5, 2**32), (9, 2**64))
                if rows_in_cell < most)


def answer_bytes(args, level, rows):
    nodes = args.trees * counted_nodes(level)
    cells = nodes * args.features * BINS * CLASSES
    return cells * integer_bytes(rows / (2**level * BINS))


def tree_seconds(args, finished, size):
    """When the sum of all answers is there: a task of the tree begins when its inputs are."""
    times = sorted(finished)
    while len(times) > 1:
        groups = [times[at : at + args.fan_in] for at in range(0, len(times), args.fan_in)]
        merge = [len(group) * size * (1 / args.bandwidth + 1 / args.merge_rate) for group in groups]
        times = sorted(max(group) + args.task_s + work for group, work in zip(groups, merge))
    return times[0]


def round_seconds(args, draw, work_s, question, answer):
    """One question to all workers; workers take work_s seconds, more or less."""
    spread = 0.0 if args.workers == 1 else args.spread
    sent = [(nth + 1) * args.dispatch_s for nth in range(args.workers)]
    # The object store passes a question on from node to node.
    hops = math.ceil(math.log2(args.workers)) if args.workers > 1 else 0
    arrives = args.task_s + hops * question / args.bandwidth
    heap = [start + arrives + work_s * (1 + spread * abs(draw.gauss(0, 1))) for start in sent]
    heapq.heapify(heap)
    return tree_seconds(args, list(heap), answer) + answer / args.merge_rate


def training_seconds(args):
    draw, rows = random.Random(1), args.rows / args.workers
    memory = rows * args.features
    read, passes = rows / args.read_rate, args.passes
    counted = rows / args.count_rate if memory <= args.memory else max(
        rows / args.count_rate, memory / args.disk_rate)
    context = args.workers * args.switches * 6 * 12
    rounds = [("rows", read, 0, context), ("times", read, context, 2**15 * args.switches * 5),
              ("values", read, context, args.features * 1_140_000 + context)]
    rounds = rounds[3 - passes + 1 :] if passes < 4 else rounds
    total = {"read": 0.0, "count": 0.0, "rounds": 0.0}
    bytes_merged = 0
    for _, work, question, answer in rounds:
        took = round_seconds(args, draw, work, question, answer)
        total["read"] += work
        total["rounds"] += took - work
        bytes_merged += answer
    for level in range(args.depth + 1):
        work = counted + (read if level == 0 else 0)
        answer = answer_bytes(args, level, rows) if level < args.depth else 255 * args.trees * 6 * 3
        took = round_seconds(args, draw, work, context + 4096 * args.trees, answer)
        total["count"] += counted
        total["read"] += work - counted
        total["rounds"] += took - work
        bytes_merged += answer
    return total, bytes_merged, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e8, 1e10, 1e12])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 10, 100, 1000, 10_000])
    parser.add_argument("--trees", type=int, default=4)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--features", type=int, default=4)
    parser.add_argument("--switches", type=int, default=1, help="switches per worker")
    parser.add_argument("--passes", type=int, default=4, help="passes over files: 4 by time, 2 by run")
    parser.add_argument("--read-rate", type=float, default=READ_RATE, help="rows/s of a pass over files")
    parser.add_argument("--count-rate", type=float, default=COUNT_RATE, help="rows/s of a level")
    parser.add_argument("--memory", type=float, default=4e9, help="bytes of rows a worker keeps")
    parser.add_argument("--disk-rate", type=float, default=5e8, help="bytes/s of spilled rows")
    parser.add_argument("--dispatch-s", type=float, default=DISPATCH_S, help="the driver's, per task")
    parser.add_argument("--task-s", type=float, default=TASK_S, help="latency of a task")
    parser.add_argument("--bandwidth", type=float, default=1e9, help="bytes/s between nodes")
    parser.add_argument("--merge-rate", type=float, default=MERGE_RATE, help="bytes/s of merging")
    parser.add_argument("--spread", type=float, default=0.05, help="of the workers' speeds")
    parser.add_argument("--fan-in", type=int, default=16)
    args = parser.parse_args()
    print(f"{'rows':>8} {'workers':>8} {'seconds':>10} {'reading':>9} {'counting':>9} {'rounds':>8} "
          f"{'efficiency':>11} {'GB/worker':>10} {'MB merged':>10}")
    for rows in args.rows:
        for workers in args.workers:
            at = argparse.Namespace(**{**vars(args), "rows": rows, "workers": workers})
            total, merged, memory = training_seconds(at)
            seconds = sum(total.values())
            efficiency = (total["read"] + total["count"]) / seconds
            print(f"{rows:8.0e} {workers:8} {seconds:10.1f} {total['read']:9.1f} "
                  f"{total['count']:9.1f} {total['rounds']:8.2f} {efficiency:11.3f} "
                  f"{memory / 1e9:10.2f} {merged / 1e6:10.2f}")


# Rates measured on one core (docs/ray.md); what the driver takes for a task is an assumption.
READ_RATE, COUNT_RATE = 14e6, 500e6
DISPATCH_S, TASK_S, MERGE_RATE = 3e-4, 3e-3, 3e7

if __name__ == "__main__":
    main()
