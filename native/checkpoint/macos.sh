#!/bin/sh
# Checks that the band store and its command compile for macOS. Nothing runs: that needs Apple's linker.
#
# Needs rustc's standard library for the triple, and zig for the C of BLAKE3. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
triple=aarch64-apple-darwin
. "$here/../crates.sh"
with_std "$triple"
. "$here/../zig.sh"
zig_for "$triple" aarch64-macos
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
cd "$here/.."
cargo clippy --quiet --locked --target "$triple" --target-dir "$target" \
    -p paceline-checkpoint -p paceline-checkpoint-cli -- -D warnings
echo "macos.sh: the band store and its command compile for $triple"
