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
command -v cargo >/dev/null || {
    echo "build.sh: 'cargo' is not installed; 'make setup' at the root of the repository installs it" >&2
    exit 1
}
target=${CARGO_TARGET_DIR:-$here/../target}
build() { # build PACKAGE [OPTION…]
    (cd "$here/.." && cargo build --quiet --release --locked --target-dir "$target" -p "$@")
}
put() { # put FILE: replaced, never overwritten: a running process may have the old file mapped
    cp "$1" "$here/build/${1##*/}.new"
    mv -f "$here/build/${1##*/}.new" "$here/build/${1##*/}"
}
mkdir -p "$here/build"
build paceline-checkpoint-bench
put "$target/release/paceline-checkpoint-bench"
# The command is an arm, too. Static where rustc can: a C library that is linked, and asks what the processor
# can do, whenever a process begins takes as long as a whole checkpoint.
triple=$(uname -m)-unknown-linux-musl
if [ "$(uname -s)" = Linux ] && [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    # BLAKE3 is assembly and, for NEON, C that needs no C library.
    export "CC_$(echo "$triple" | tr - _)=${CC:-cc}"
    build paceline-checkpoint-cli --target "$triple"
    put "$target/$triple/release/paceline-checkpoint"
else
    echo "build.sh: rustc has no std for $triple, so 'paceline-checkpoint' is linked when it starts" >&2
    build paceline-checkpoint-cli
    put "$target/release/paceline-checkpoint"
fi
