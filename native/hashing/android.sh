#!/bin/sh
# Builds what a workload of this suite runs on an Android device; `build.sh android …` calls it.
#
#   android.sh engines ABI     build/ABI/paceline-hashing-engines: a static program, ABI being arm64-v8a or
#                              x86_64. It needs rustc's standard library for musl and no NDK; how it is
#                              linked stands in ../.cargo/config.toml
#   android.sh piece ABI       build/ABI/paceline-hashing-piece: the same with QuickJS, whose C zig compiles
#   android.sh ledger ABI      build/hashing-art.jar and build/ABI/libpaceline_hashing.so: an experiment, run
#                              by no phone yet (art.toml). The library needs an NDK: ANDROID_NDK_HOME
#   android.sh symbols ABI     the same library without an NDK, linked against nothing: it cannot be loaded,
#                              but shows what it wants of a device (build/ABI/unlinked/)
#   android.sh dex ABI         build/hashing-art.jar alone
#
# Honours CARGO_TARGET_DIR and MAVEN_ARGS. RUSTFLAGS are for the host (target-cpu=native) and not heeded.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-}
abi=${2:-}
fail() { # fail STATUS TEXT
    echo "android.sh: $2" >&2
    exit "$1"
}
case $abi in
arm64-v8a) musl=aarch64-unknown-linux-musl bionic=aarch64-linux-android ;;
x86_64) musl=x86_64-unknown-linux-musl bionic=x86_64-linux-android ;;
*) fail 2 "unknown ABI '$abi'; use arm64-v8a or x86_64" ;;
esac
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
target=${CARGO_TARGET_DIR:-$here/../target}
out=$here/build/$abi
mkdir -p "$out"

# One build at a time: Maven has no lock of its own, and two of cargo's would copy over each other. What they
# start must not inherit the lock (9>&-): a daemon among it would keep it, and the next build wait for ever.
if command -v flock >/dev/null; then
    exec 9>"$here/build/.lock"
    flock 9
fi

put() { # put FILE NAME: replace, never overwrite; a running process may have the old file mapped
    cp "$1" "$out/$2.new"
    mv -f "$out/$2.new" "$out/$2"
}

with_std() { # with_std TRIPLE: rustc can build for it
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] ||
        fail 1 "rustc has no standard library for $1; run: rustup target add $1"
}

crate() { # crate PACKAGE TRIPLE [OPTION…]: from native/, where .cargo/config.toml applies
    package=$1 triple=$2
    shift 2
    (cd "$here/.." &&
        cargo build --quiet --release --locked --target "$triple" --target-dir "$target" -p "$package" "$@")
} 9>&-

# Where cargo keeps the sources of crates. Programs say a name that is the same on every machine: what panics
# or asserts names its file, and equal sources are to give equal artifacts (I15).
crates=${CARGO_HOME:-$HOME/.cargo}/registry/src

program() { # program PACKAGE: static, and named like it
    with_std "$musl"
    crate "$1" "$musl" --config "target.$musl.rustflags=['--remap-path-prefix=$crates=crates']"
    put "$target/$musl/release/$1" "$1"
}

# C for musl by zig, which brings clang and the headers of musl for every ABI. `cc`, which compiles the C of
# crates, is told everything: what it would say to a clang by itself, zig takes for another target. With zig's
# own caches in the target directory, nothing is left behind in the home.
with_zig() {
    PATH=$PATH:$here/../../.tools/bin
    for zig in zig python-zig; do command -v "$zig" >/dev/null && break; done
    command -v "$zig" >/dev/null ||
        fail 1 "zig compiles the C of '$what' and is not installed; run 'scripts/setup devices' at the root \
of the repository (or: pip install ziglang==0.15.1)"
    mkdir -p "$target/zig"
    cache=$(cd "$target/zig" && pwd)
    suffix=$(echo "$musl" | tr - _)
    export PATH CRATE_CC_NO_DEFAULTS=1 ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$cache"
    export "CC_$suffix=$zig cc -target ${musl%%-*}-linux-musl" "AR_$suffix=$zig ar"
    # As `cc` has it for a release on a host; zig's sanitizer of undefined behaviour is for debugging.
    export "CFLAGS_$suffix=-O3 -g0 -ffunction-sections -fdata-sections -fno-sanitize=all \
-ffile-prefix-map=$crates=crates"
}

# Of the NDK's clang, for the first API level with everything the workloads use (jvm/device/pom.xml).
ndk_linker() {
    [ -n "${ANDROID_NDK_HOME:-}" ] ||
        fail 1 "the JNI library for devices is linked by an NDK: install one and set ANDROID_NDK_HOME"
    for clang in "$ANDROID_NDK_HOME"/toolchains/llvm/prebuilt/*/bin/"$bionic"26-clang; do
        [ -x "$clang" ] && echo "$clang" && return
    done
    fail 1 "ANDROID_NDK_HOME has no toolchains/llvm/prebuilt/*/bin/${bionic}26-clang"
}

library() { # library LINKER FLAGS FOLDER: FLAGS are further ones of rustc's
    with_std "$bionic"
    upper=$(echo "$bionic" | tr 'a-z-' 'A-Z_')
    export "CARGO_TARGET_${upper}_LINKER=$1"
    export "CARGO_TARGET_${upper}_RUSTFLAGS=$2"
    crate paceline-hashing-jni "$bionic"
    mkdir -p "$out/$3"
    put "$target/$bionic/release/libpaceline_hashing.so" "$3/libpaceline_hashing.so"
}

# The system libraries that rustc names, each without anything in it.
hollow() {
    mkdir -p "$target/hollow"
    for name in c dl log m unwind; do printf '!<arch>\n' >"$target/hollow/lib$name.a"; done
    (cd "$target/hollow" && pwd)
}

dex() { # only when a source is newer
    jar=$here/build/hashing-art.jar
    [ ! -f "$jar" ] || [ -n "$(find "$here/jvm" -name target -prune -o -type f -newer "$jar" -print)" ] ||
        return 0
    # shellcheck disable=SC2086 # MAVEN_ARGS is a list of words
    mvn -B -q -Dstyle.color=never -f "$here/jvm/device/pom.xml" -Dmaven.test.skip=true ${MAVEN_ARGS:-} package
    cp "$here/jvm/device/target/hashing-art.jar" "$jar.new"
    mv -f "$jar.new" "$jar"
} 9>&-

case $what in
engines) program paceline-hashing-engines ;;
piece)
    with_zig
    program paceline-hashing-piece
    ;;
ledger)
    linker=$(ndk_linker)
    library "$linker" "-Clink-arg=-Wl,-z,max-page-size=65536" .
    dex
    ;;
symbols)
    none=$(hollow)
    loose=-Clink-arg=--unresolved-symbols=ignore-all
    library rust-lld "-Clinker-flavor=ld.lld -Lnative=$none -Clink-arg=-zmax-page-size=65536 $loose" unlinked
    ;;
dex) dex ;;
*) fail 2 "unknown workload '$what'; use engines, piece, ledger, symbols or dex" ;;
esac
