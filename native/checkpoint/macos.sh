#!/bin/sh
# Compiles the band store and its command for macOS, as far as that goes without Apple's linker and libraries:
# every type and every call into the system. Nothing runs.
#
# Needs rustc's standard library for the triple, and zig for the C of BLAKE3. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
triple=aarch64-apple-darwin
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ] || {
    echo "macos.sh: rustc has no standard library for $triple; run: rustup target add $triple" >&2
    exit 1
}
target=${CARGO_TARGET_DIR:-$here/../target}
. "$here/../zig.sh"
zig_for "$triple" aarch64-macos
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
cd "$here/.."
cargo clippy --quiet --locked --target "$triple" --target-dir "$target" \
    -p paceline-checkpoint -p paceline-checkpoint-cli -- -D warnings
echo "macos.sh: the band store and its command compile for $triple"
