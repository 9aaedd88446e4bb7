#!/bin/sh
# Runs the core's tests under AddressSanitizer: kernels read messages to their last byte with masks and
# pointers, and here a byte too many ends the test.
#
#   asan.sh             AddressSanitizer, all tests
#   asan.sh thread      ThreadSanitizer, the crew's tests; needs the nightly toolchain with rust-src
#
# The sanitizers are not stable in rustc; RUSTC_BOOTSTRAP lets the pinned stable compiler use them for tests.
# Honours CARGO_TARGET_DIR (a folder of its own is made in it).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-address}
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) ;;
*)
    echo "asan.sh: rustc has no sanitizer for $host; run it on Linux (x86-64 or AArch64)" >&2
    exit 1
    ;;
esac
cd "$here"
target=${CARGO_TARGET_DIR:-$here/../../target}/sanitizer-$what
# Its own target folder and --target: build scripts and proc macros must not be built with the sanitizer.
case $what in
address)
    # What is tested is the code, not the linker: without optimising across crates it is built sooner.
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" \
        cargo test --quiet --release --locked --target "$host" --target-dir "$target" \
        -p paceline-hashing-core
    ;;
thread)
    # The standard library must be built with it too, else its locks are not seen.
    RUSTFLAGS="-Zsanitizer=thread" cargo +nightly test --quiet --locked -Zbuild-std --target "$host" \
        --target-dir "$target" -p paceline-hashing-core --test crew
    ;;
*)
    echo "asan.sh: unknown argument '$what'; use thread or nothing" >&2
    exit 2
    ;;
esac
