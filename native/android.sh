# Builds static programs for Android devices: what every suite's android.sh shares. Sourced after `set -eu`, with
# `here` (the suite's folder), `what` (the workload) and `abi` (arm64-v8a or x86_64).
#
# It leaves rustc's names of that ABI in `musl` and `bionic` and the folder for programs in `out`, and holds the
# suite's lock until the script ends. How programs are linked is in .cargo/config.toml.
#
# Honours CARGO_TARGET_DIR. RUSTFLAGS are for the host (target-cpu=native) and ignored here.
. "$here/../crates.sh"
case $abi in
arm64-v8a) musl=aarch64-unknown-linux-musl bionic=aarch64-linux-android ;;
x86_64) musl=x86_64-unknown-linux-musl bionic=x86_64-linux-android ;;
*) fail 2 "unknown ABI '$abi'; use arm64-v8a or x86_64" ;;
esac
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
out=$here/build/$abi
mkdir -p "$out"

# One build at a time: Maven has no lock of its own, and two of cargo's would copy over each other. What they
# start must not inherit the lock (9>&-): a daemon among it would keep it, and the next build wait for ever.
if command -v flock >/dev/null; then
    exec 9>"$here/build/.lock"
    flock 9
fi

# Where cargo keeps the sources of crates. Programs say a name that is the same on every machine: what panics
# or asserts names its file, and equal sources are to give equal artifacts (I15).
crates=${CARGO_HOME:-$HOME/.cargo}/registry/src

program() { # program PACKAGE [NAME [BUILT]]: static; NAME: its own if it is not the package's; BUILT: cargo's
    with_std "$musl"
    crate "$1" --target "$musl" --config "target.$musl.rustflags=['--remap-path-prefix=$crates=crates']"
    put "$target/$musl/release/${3:-${2:-$1}}" "${2:-$1}"
}

# Times a fixed piece of work before and after a job (`android.calibrate`), so that a device that drifted is found
# out, whichever suite it ran.
calibrator() {
    program paceline-hashing-engines
}

with_zig() { # C for musl by zig
    . "$here/../zig.sh"
    zig_for "$musl" "${musl%%-*}-linux-musl"
    # As `cc` has it for a release on a host; zig's sanitizer of undefined behaviour is for debugging.
    export "CFLAGS_$suffix=-O${CARGO_PROFILE_RELEASE_OPT_LEVEL:-3} -g0 -ffunction-sections -fdata-sections -fno-sanitize=all \
-ffile-prefix-map=$crates=crates"
}
