#!/bin/sh
# Builds what the workloads of this suite run and leaves it in build/ beside this script, under names that
# are the same on every platform (the JVM loads the library by full path, so its ending does not matter).
#
#   build.sh            everything
#   build.sh ledger     build/libpaceline_hashing.so and build/hashing.jar
#   build.sh piece      build/libpaceline_piece.so (with QuickJS: a minute or more of C) and build/hashing.jar
#   build.sh engines    build/paceline-hashing-engines: no JVM needed
#   build.sh library    both libraries (what `mvn verify` in jvm/ needs)
#   build.sh android WORKLOAD ABI    what the workload runs on a device, in build/ABI/ (android.sh)
#
# Works in any checkout or worktree. Honours CARGO_TARGET_DIR, and MAVEN_ARGS for Maven (for instance
# --offline).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-all}
if [ "$what" = android ]; then
    shift
    exec sh "$here/android.sh" "$@"
fi
tools=cargo
case $what in
all | ledger | piece) tools="cargo java mvn" ;;
engines | library) ;;
*)
    echo "build.sh: unknown argument '$what'; use ledger, piece, engines, library, android or nothing" >&2
    exit 2
    ;;
esac
for tool in $tools; do
    command -v "$tool" >/dev/null || {
        echo "build.sh: '$tool' is not installed; 'make setup' at the root of the repository installs it" >&2
        exit 1
    }
done
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$here/build"

put() { # put FILE NAME: replace, never overwrite; a running process may have the old file mapped
    cp "$1" "$here/build/$2.new"
    mv -f "$here/build/$2.new" "$here/build/$2"
}

crate() { # crate PACKAGE: from native/, whose lock file and target directory all crates share
    (cd "$here/.." && cargo build --quiet --release --locked --target-dir "$target" -p "$1")
}

library() { # library PACKAGE NAME: whatever this platform calls a shared library becomes libNAME.so
    crate "$1"
    for built in "lib$2.so" "lib$2.dylib" "$2.dll"; do
        [ ! -f "$target/release/$built" ] || put "$target/release/$built" "lib$2.so"
    done
}

jar() { # Maven compiles everything each time, and two workloads share the jar: only when a source is newer
    changed=$here/jvm
    [ ! -f "$here/build/hashing.jar" ] ||
        changed=$(find "$here/jvm" -name target -prune -o -newer "$here/build/hashing.jar" -print)
    [ -n "$changed" ] || return 0
    # shellcheck disable=SC2086 # MAVEN_ARGS is a list of words
    (cd "$here/jvm" && mvn -B -q -Dstyle.color=never -Dmaven.test.skip=true ${MAVEN_ARGS:-} package)
    put "$here/jvm/workloads/target/hashing.jar" hashing.jar
}

case $what in all | ledger | library) library paceline-hashing-jni paceline_hashing ;; esac
case $what in all | piece | library) library paceline-hashing-quickjs-jni paceline_piece ;; esac
case $what in all | ledger | piece) jar ;; esac
case $what in all | engines)
    crate paceline-hashing-engines
    put "$target/release/paceline-hashing-engines" paceline-hashing-engines
    ;;
esac
