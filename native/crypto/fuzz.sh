#!/bin/sh
# Fuzzes what takes bytes or pointers, with the address sanitizer:
#
#   fuzz.sh SECONDS [TARGET…]    snapshot, c_abi, parsers, engines; without a name the first two
#
# By hand, never in `make test`: there the same entries (fuzz/entries) run over seeded changes of right
# inputs. Needs `rustup toolchain install nightly` and a C++ compiler. `parsers` and `engines` have to be
# named, because AWS-LC is built for them. Inputs start from fuzz/vectors; what libFuzzer finds stays in
# build/fuzz/TARGET. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
seconds=${1:?how many seconds for each target}
shift
[ $# -gt 0 ] || set -- snapshot c_abi
host=$(rustc -vV | sed -n 's/^host: //p')
out=$here/build/fuzz
target=${CARGO_TARGET_DIR:-$here/../target}/fuzz
# What `cargo fuzz` passes.
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address --cfg fuzzing -Ccodegen-units=1"
export RUSTFLAGS
cd "$here/fuzz"
for name in "$@"; do
    features=
    case $name in parsers | engines) features="--features attestation" ;; esac
    # shellcheck disable=SC2086 # no features are no argument
    cargo +nightly build --quiet --release --locked --bin "$name" $features --target "$host" \
        --target-dir "$target"
    mkdir -p "$out/$name/found"
    "$target/$host/release/$name" -max_total_time="$seconds" -artifact_prefix="$out/$name/" \
        -print_final_stats=1 -timeout=20 "$out/$name/found" "vectors/$name"
done
