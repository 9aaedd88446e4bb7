#!/bin/sh
# Builds what the suite runs on an Android device; `build.sh android bands ABI` calls it.
#
#   android.sh bands ABI    build/ABI/paceline-checkpoint-bench and the calibrator, static programs, ABI being
#                           arm64-v8a or x86_64. zig compiles the C of BLAKE3 (NEON; assembly on x86_64)
#
# Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-}
abi=${2:-}
. "$here/../android.sh"

case $what in
bands)
    with_zig
    program paceline-checkpoint-bench
    calibrator
    ;;
*) fail 2 "unknown workload '$what'; use bands" ;;
esac
