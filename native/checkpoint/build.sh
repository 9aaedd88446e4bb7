#!/bin/sh
# Builds what the suite runs and leaves it in build/ beside this script. Works in any checkout or worktree.
#
#   build.sh                      build/paceline-checkpoint-bench, build/paceline-checkpoint (an arm, too)
#   build.sh android bands ABI    what the suite runs on a device, in build/ABI/ (android.sh)
#
# Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ "${1:-}" = android ]; then
    shift
    exec sh "$here/android.sh" "$@"
fi
out=$here/build
. "$here/../crates.sh"
need cargo
mkdir -p "$out"
crate paceline-checkpoint-bench
put "$target/release/paceline-checkpoint-bench" paceline-checkpoint-bench
# The command is an arm, too. Static where rustc can: a C library that is linked, and asks what the processor
# can do, whenever a process begins takes as long as a whole checkpoint.
triple=$(uname -m)-unknown-linux-musl
if [ "$(uname -s)" = Linux ] && [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    # BLAKE3 is assembly and, for NEON, C that needs no C library.
    export "CC_$(echo "$triple" | tr - _)=${CC:-cc}"
    crate paceline-checkpoint-cli --target "$triple"
    put "$target/$triple/release/paceline-checkpoint" paceline-checkpoint
else
    echo "build.sh: rustc has no std for $triple, so 'paceline-checkpoint' is linked when it starts" >&2
    crate paceline-checkpoint-cli
    put "$target/release/paceline-checkpoint" paceline-checkpoint
fi
