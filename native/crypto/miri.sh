#!/bin/sh
# What Miri follows of this room, pointer by pointer; needs `rustup +nightly component add miri`.
#
#   miri.sh [capi] [twin]    the C ABI's functions; the lanes' arithmetic in plain Rust; without a word both
#
# By hand: minutes. Not here: the AVX-512 intrinsics, which Miri does not have (the twin is the same source,
# and `attestation/src/lanes/tests.rs` holds registers to it limb for limb); AWS-LC, which is C and is left
# out as in static programs, by Miri's target; the advice in `finality/src/pages.rs`, a system call. `capi`
# goes through the index behind `is_final`, too, whose orderings are loom's affair
# (`finality/tests/interleavings.rs`). Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../target}/miri
cd "$here/.."
miri() { # miri PACKAGE OPTION…: randomness and clocks are the interpreter's own, so a failure can be repeated
    package=$1
    shift
    cargo +nightly miri test --quiet --locked --target x86_64-unknown-linux-musl --target-dir "$target" \
        -p "$package" "$@"
}
[ $# -gt 0 ] || set -- capi twin
for part in "$@"; do
    case $part in
    capi) miri paceline-finality-capi --test pointers --test agreement ;;
    twin) miri paceline-attestation --lib ;;
    *)
        echo "miri.sh: unknown argument '$part'; use capi, twin or nothing" >&2
        exit 2
        ;;
    esac
done
