# Compiles the C of crates for another system by zig, which brings clang and the headers of each. Sourced after
# crates.sh.
#
# It leaves zig's name in `zig`. Its caches lie in the target directory, so that nothing stays in the home.
PATH=$PATH:$here/../../.tools/bin
for zig in zig python-zig; do command -v "$zig" >/dev/null && break; done
command -v "$zig" >/dev/null ||
    fail 1 "zig compiles the C of crates and is not installed; run 'scripts/setup devices' at the root of \
the repository (or: pip install ziglang==0.15.1)"
mkdir -p "$target/zig"
cache=$(cd "$target/zig" && pwd)
# `cc`, which compiles the C of crates, is told everything: what it would say to a clang by itself, zig takes
# for another target.
export PATH CRATE_CC_NO_DEFAULTS=1 ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$cache"

zig_for() { # zig_for TRIPLE TARGET: rustc's name of a system, and zig's
    suffix=$(echo "$1" | tr - _)
    export "CC_$suffix=$zig cc -target $2" "AR_$suffix=$zig ar"
}
