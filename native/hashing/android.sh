#!/bin/sh
# Builds what a workload of this suite runs on an Android device; `build.sh android …` calls it.
#
#   android.sh engines ABI     build/ABI/paceline-hashing-engines: a static program, ABI being arm64-v8a or
#                              x86_64. It needs rustc's standard library for musl and no NDK; how it is
#                              linked stands in ../.cargo/config.toml
#
# Honours CARGO_TARGET_DIR. RUSTFLAGS are for the host (target-cpu=native, say) and not heeded.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-}
abi=${2:-}
fail() { # fail STATUS TEXT
    echo "android.sh: $2" >&2
    exit "$1"
}
case $abi in
arm64-v8a) musl=aarch64-unknown-linux-musl ;;
x86_64) musl=x86_64-unknown-linux-musl ;;
*) fail 2 "unknown ABI '$abi'; use arm64-v8a or x86_64" ;;
esac
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
target=${CARGO_TARGET_DIR:-$here/../target}
out=$here/build/$abi
mkdir -p "$out"

put() { # put FILE NAME: replace, never overwrite; a running process may have the old file mapped
    cp "$1" "$out/$2.new"
    mv -f "$out/$2.new" "$out/$2"
}

with_std() { # with_std TRIPLE: rustc can build for it
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] ||
        fail 1 "rustc has no standard library for $1; run: rustup target add $1"
}

crate() { # crate PACKAGE TRIPLE: from native/, where .cargo/config.toml applies
    (cd "$here/.." && cargo build --quiet --release --locked --target "$2" --target-dir "$target" -p "$1")
}

case $what in
engines)
    with_std "$musl"
    crate paceline-hashing-engines "$musl"
    put "$target/$musl/release/paceline-hashing-engines" paceline-hashing-engines
    ;;
*) fail 2 "unknown workload '$what'; use engines" ;;
esac
