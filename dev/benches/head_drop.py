#!/usr/bin/env python3
"""Counts the cells that decide which head to push out, beside the cells of a decision that asks an oracle.

Usage: head_drop.py DROPCAST [SWITCH]. SWITCH is data/samples/leaf.toml unless given. Needs Yosys and Icarus Verilog. First
`head_drop.v` is simulated on random packets against its definition; then Yosys counts 6-input lookup tables and flip-flops
of both modules and of the decision of a random
forest (4 trees of depth 4 on level4), in the same way as docs/verilog.md. None has the packets themselves. A head that leaves also takes a read of its descriptor and of the queue's list from the
packet memory, which a drop-tail switch does not have.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COUNT = (
    "hierarchy -top {top}; proc; flatten; opt; wreduce; opt; memory -nomap; opt; techmap; opt -fast; "
    "abc -lut 6; opt_clean; stat"
)

BENCH = """
`timescale 1ns/1ns
module bench;
    reg clock = 0, reset = 1, arrives = 0, departs = 0, expelled = 0;
    reg [5:0] queue = 0; reg [23:0] bytes = 0, expelled_bytes = 0;
    wire ready, expel, accepted; wire [5:0] expel_queue;
    lqd_head_drop #(.CAPACITY(24'd20000)) dut(.clock(clock), .reset(reset), .arrives(arrives), .arrival_queue(queue),
        .arrival_bytes(bytes), .departs(departs), .departure_queue(queue), .departure_bytes(bytes), .ready(ready),
        .expel(expel), .expel_queue(expel_queue), .expelled(expelled), .expelled_bytes(expelled_bytes), .accepted(accepted));
    always #5 clock = ~clock;
    integer calls, got, kind, q, b;
    integer fifo[0:40*4096-1]; integer head[0:39]; integer tail[0:39];
    initial begin
        for (q = 0; q < 40; q = q + 1) begin head[q] = 0; tail[q] = 0; end
        calls = $fopen("calls.txt", "r");
        #12 reset = 0; wait (ready);
        while (!$feof(calls)) begin
            got = $fscanf(calls, "%d %d %d\\n", kind, q, b);
            @(negedge clock); queue = q;
            if (kind == 1) begin
                bytes = b; arrives = 1; @(negedge clock); arrives = 0;
                while (!accepted) begin
                    if (expel) begin
                        $display("%0d", expel_queue);
                        expelled_bytes = fifo[expel_queue * 4096 + head[expel_queue] % 4096];
                        head[expel_queue] = head[expel_queue] + 1;
                        expelled = 1; @(negedge clock); expelled = 0;
                    end else @(negedge clock);
                end
                fifo[q * 4096 + tail[q] % 4096] = b; tail[q] = tail[q] + 1;
            end else if (head[q] != tail[q]) begin
                bytes = fifo[q * 4096 + head[q] % 4096]; head[q] = head[q] + 1;
                departs = 1; @(negedge clock); departs = 0;
            end
            wait (ready);
        end
        $finish;
    end
endmodule
"""


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def simulate(folder):
    """Random packets through the module and through the definition; the queues that lose heads must agree."""
    draw = random.Random(1)
    calls, queues, expected = [], [[] for _ in range(40)], []
    for _ in range(4000):
        queue, size = min(int(draw.expovariate(0.2)), 39), draw.randint(64, 1500)
        if draw.random() < 0.6:
            calls.append(f"1 {queue} {size}")
            while sum(map(sum, queues)) + size > 20000:
                longest = max(range(40), key=lambda of: (sum(queues[of]), -of))
                expected.append(longest)
                queues[longest].pop(0)
            queues[queue].append(size)
        else:
            calls.append(f"0 {queue} 0")
            queues[queue] = queues[queue][1:]
    (folder / "calls.txt").write_text("\n".join(calls) + "\n")
    (folder / "bench.v").write_text(BENCH)
    run("iverilog", "-g2005", "-o", "bench", HERE / "head_drop.v", "bench.v", cwd=folder)
    said = [int(line) for line in run("vvp", "-n", "bench", cwd=folder).split() if line.isdigit()]
    if said != expected:
        sys.exit(f"head_drop.v pushes out {len(said)} heads otherwise than its definition, which pushes out {len(expected)}")
    return len(expected)


def cells(files, top):
    said = run("yosys", "-p", f"read_verilog {' '.join(map(str, files))}; {COUNT.format(top=top)}")
    last = said[said.rindex("Number of cells") :]
    count = lambda names: sum(int(n) for name, n in re.findall(r"^\s+(\S+)\s+(\d+)$", last, re.M) if re.match(names, name))
    return count(r"\$lut"), count(r"\$_(S|A|)?D?FF|\$_DFF|\$_SDFF"), count(r"\$mem")


def forest(folder, dropcast, switch):
    """A random forest of 4 trees of depth 4 on level4, trained on labels by chance, and its decision in Verilog."""
    run(dropcast, "simulate", "--seed", "1", "--duration-ms", "40", "-o", "events.parquet", cwd=folder)
    run(dropcast, "collect", "--events", "events.parquet", "-o", "trace.parquet", cwd=folder)
    run(dropcast, "train", "--data", "trace.parquet", "--vote", "f1", "-o", "model.json", cwd=folder)
    run(dropcast, "export", "model.json", "--target", "verilog", "--switch", switch, "-o", ".", cwd=folder)
    return [folder / "model_predictor.v", folder / "dropcast_decision.v", folder / "model_decision.v"]


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    dropcast = pathlib.Path(sys.argv[1]).resolve()
    switch = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else HERE.parents[1] / "data/samples/leaf.toml").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        heads = simulate(folder)
        print(f"lqd_head_drop: {heads} heads as defined", file=sys.stderr)
        designs = {top: cells([HERE / "head_drop.v"], top) for top in ("lqd_head_drop", "occamy_head_drop")}
        designs["decision, level4"] = cells(forest(folder, dropcast, switch), "model_decision")
    print("| | lookup tables | flip-flops | memories |\n|---|---|---|---|")
    for design, (tables, flops, memories) in designs.items():
        print(f"| {design} | {tables:,} | {flops:,} | {memories} |")


if __name__ == "__main__":
    main()
