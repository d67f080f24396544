#!/usr/bin/env bash
# Fuzzes every parser for some seconds each, two at a time, from one seed: dev/fuzz/run.sh [SECONDS] [TARGET...]
# Needs a nightly compiler and cargo-fuzz. What was found is in dev/fuzz/artifacts/TARGET.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true
targets=("$@")
((${#targets[@]})) || mapfile -t targets < <(cargo +nightly fuzz list --fuzz-dir .)
((${#targets[@]})) || { echo "no target is listed" >&2; exit 1; }

cargo +nightly fuzz build --fuzz-dir . --sanitizer none
fuzz() {
    # New inputs go to a folder of their own: the corpus in the repository is for people to extend.
    mkdir -p "target/corpus/$1" "artifacts/$1"
    "target/x86_64-unknown-linux-gnu/release/$1" "target/corpus/$1" "corpus/$1" \
        -artifact_prefix="artifacts/$1/" -max_total_time="$2" -timeout=20 \
        -rss_limit_mb=1024 -malloc_limit_mb=1024 -max_len=16384 -seed=1 -verbosity=0 -print_final_stats=1 \
        >"target/$1.log" 2>&1 || { tail -n 40 "target/$1.log"; echo "$1 FAILED"; return 1; }
    awk -v target="$1" '/number_of_executed_units/ {print target ": " $2 " inputs"}' "target/$1.log"
}
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c "fuzz {} $seconds"
