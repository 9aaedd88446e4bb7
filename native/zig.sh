# zig as the compiler of crates' C for another system: it brings clang and the headers of each. Sourced, with
# `here` (a folder of a room) and `target` (cargo's).
#
# It leaves zig's name in `zig`, and its caches in the target directory: nothing is left behind in the home.
PATH=$PATH:$here/../../.tools/bin
for zig in zig python-zig; do command -v "$zig" >/dev/null && break; done
command -v "$zig" >/dev/null || {
    echo "${0##*/}: zig compiles the C of crates and is not installed; run 'scripts/setup devices' at the \
root of the repository (or: pip install ziglang==0.15.1)" >&2
    exit 1
}
mkdir -p "$target/zig"
cache=$(cd "$target/zig" && pwd)
# `cc`, which compiles the C of crates, is told everything: what it would say to a clang by itself, zig takes
# for another target.
export PATH CRATE_CC_NO_DEFAULTS=1 ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$cache"

zig_for() { # zig_for TRIPLE TARGET: rustc's name of a system, and zig's
    suffix=$(echo "$1" | tr - _)
    export "CC_$suffix=$zig cc -target $2" "AR_$suffix=$zig ar"
}
