#!/bin/sh
# Builds the crate's vectors and agreement tests as static AArch64 programs and runs them under qemu.
#
#   arm64.sh few     what `make test-native` runs: every vector but Wycheproof's
#   arm64.sh         also the lanes' own tests, and 60 inputs on which all engines agree
#   arm64.sh all     also Wycheproof's set: a minute and a half under an emulator
#
# As static programs, like those for devices (../../.cargo/config.toml): no cross compiler is needed, so
# AWS-LC is not in them; the engines are `portable` and `twin`. On an AArch64 machine the same without qemu.
# Honours CARGO_TARGET_DIR; RUSTFLAGS are for the host and not heeded.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
triple=aarch64-unknown-linux-musl
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
if [ "$(uname -m)" != aarch64 ]; then
    command -v qemu-aarch64-static >/dev/null || {
        echo "arm64.sh: no qemu-aarch64-static here; on Debian: apt-get install qemu-user-static" >&2
        exit 1
    }
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64-static
fi
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || {
    echo "arm64.sh: rustc has no standard library for $triple; run: rustup target add $triple" >&2
    exit 1
}
tests="--lib --test vectors --test agreement" others="--skip wycheproof"
case ${1:-} in
few) tests="--test vectors" ;;
all) others= ;;
esac
cd "$here"
target=${CARGO_TARGET_DIR:-$here/../../target}
# What is tested is the code, not the linker: without optimising across crates it is built in half the time.
# shellcheck disable=SC2086
CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 PACELINE_ATTESTATION_INPUTS=60 \
    cargo test --quiet --release --locked --target "$triple" --target-dir "$target" -p paceline-attestation \
    $tests -- $others
