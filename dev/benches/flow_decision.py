#!/usr/bin/env python3
"""How long does a packet take with a table of flows, in exported C?

    cargo build --release
    dev/benches/flow_decision.py flows.json events.parquet

Exports the model, which was trained on labels of followers, and runs it over the arrivals of the events, in order, as many times as make
ten million. Prints nanoseconds per packet, the median of 11 passes, each with and without a prefetch eight packets ahead, as dataplanes
that take packets by bursts do:

    passes     the flow is remembered, nothing is asked
    arrives    its features are computed, too
    decides    and the forest says whether the packet is followed
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile

import pyarrow.parquet as pq

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = r"""
#include "m.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS (1u << 16)
static struct slot { uint64_t hash; struct m_flow flow; } table[SLOTS];
static struct packet { uint64_t hash, ns; } *packets;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static unsigned long pass(size_t n, size_t ahead, const char *what)
{
    unsigned long sum = 0;
    uint32_t x[M_N_FEATURES];
    size_t at, of;

    for (at = 0; at < n; at++) {
        struct slot *slot = &table[packets[at].hash % SLOTS];

        if (ahead > 0 && at + ahead < n) {
            __builtin_prefetch(&table[packets[at + ahead].hash % SLOTS], 1);
        }
        if (slot->hash != packets[at].hash) {
            memset(slot, 0, sizeof *slot);
            slot->hash = packets[at].hash;
        }
        if (what[0] == 'p') {
            m_flow_passes(&slot->flow, packets[at].ns);
            continue;
        }
        m_flow_arrives(&slot->flow, packets[at].ns, x);
        if (what[0] == 'd') {
            sum += (unsigned long)m_drop(x);
            continue;
        }
        for (of = 0; of < M_N_FEATURES; of++) {
            sum += x[of];
        }
    }
    return sum;
}

int main(int count, char **arguments)
{
    const size_t n = strtoul(arguments[1], NULL, 10), ahead = strtoul(arguments[2], NULL, 10);
    double begin;
    int run;

    packets = calloc(n, sizeof *packets);
    if (count != 4 || packets == NULL || fread(packets, sizeof *packets, n, stdin) != n) {
        return 1;
    }
    for (run = 0; run < 11; run++) {
        unsigned long sum;

        memset(table, 0, sizeof table);
        begin = now();
        sum = pass(n, ahead, arguments[3]);
        printf("%f %lu\n", (now() - begin) / (double)n, sum);
    }
    return 0;
}
"""


def arrivals(events):
    """Hash and time of each arrival, repeated with later times until they are ten million."""
    columns = pq.read_table(events, columns=["time_ns", "kind", "flow_hash"]).to_pydict()
    # Kind 0 is an arrival.
    found = [(flow, time) for time, kind, flow in zip(*columns.values()) if kind == 0 and flow]
    assert found, "no arrivals with flow_hash"
    length = found[-1][1] - found[0][1] + 1_000_000
    again = range(-(-10_000_000 // len(found)))
    words = ((flow, time + nth * length) for nth in again for flow, time in found)
    return b"".join(flow.to_bytes(8, "little") + time.to_bytes(8, "little") for flow, time in words)


def main(model, events):
    packets = arrivals(events)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.json").write_bytes(pathlib.Path(model).read_bytes())
        dropcast = REPOSITORY / "target/release/dropcast"
        subprocess.run([dropcast, "export", folder / "m.json", "--target", "c", "-o", folder], check=True)
        (folder / "p.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-O2", "-o", folder / "p", folder / "p.c"], check=True)
        print("what     ns/packet  with prefetch")
        for what in ["passes", "arrives", "decides"]:
            medians = []
            for ahead in ["0", "8"]:
                call = [folder / "p", str(len(packets) // 16), ahead, what]
                lines = subprocess.run(call, input=packets, capture_output=True, check=True).stdout.splitlines()
                medians.append(statistics.median(float(line.split()[0]) for line in lines))
            print(f"{what:8} {medians[0]:9.1f} {medians[1]:14.1f}")


main(*sys.argv[1:])
