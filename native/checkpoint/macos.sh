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
PATH=$PATH:$here/../../.tools/bin
for zig in zig python-zig; do command -v "$zig" >/dev/null && break; done
command -v "$zig" >/dev/null || {
    echo "macos.sh: zig is not installed; run 'scripts/setup devices' at the root of the repository" >&2
    exit 1
}
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$target/zig"
cache=$(cd "$target/zig" && pwd)
# `cc` would say its own name of the target, which zig takes for another one.
export PATH CRATE_CC_NO_DEFAULTS=1 ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$cache"
export CC_aarch64_apple_darwin="$zig cc -target aarch64-macos" AR_aarch64_apple_darwin="$zig ar"
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
cd "$here/.."
cargo clippy --quiet --locked --target "$triple" --target-dir "$target" \
    -p paceline-checkpoint -p paceline-checkpoint-cli -- -D warnings
echo "macos.sh: the band store and its command compile for $triple"
