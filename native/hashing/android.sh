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
. "$here/../android.sh"

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
    crate paceline-hashing-jni --target "$bionic"
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
