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
out=$here/build
. "$here/../crates.sh"
# shellcheck disable=SC2086 # a list of words
need $tools
mkdir -p "$out"

jar() { # Maven compiles everything each time, and two workloads share the jar: only when a source is newer
    changed=$here/jvm
    [ ! -f "$here/build/hashing.jar" ] ||
        changed=$(find "$here/jvm" -name target -prune -o -newer "$here/build/hashing.jar" -print)
    [ -n "$changed" ] || return 0
    # shellcheck disable=SC2086 # MAVEN_ARGS is a list of words
    (cd "$here/jvm" && mvn -B -q -Dstyle.color=never -Dmaven.test.skip=true ${MAVEN_ARGS:-} package)
    put "$here/jvm/workloads/target/hashing.jar" hashing.jar
}

case $what in all | ledger | library) library paceline-hashing-jni paceline_hashing paceline_hashing ;; esac
case $what in all | piece | library) library paceline-hashing-quickjs-jni paceline_piece paceline_piece ;; esac
case $what in all | ledger | piece) jar ;; esac
case $what in all | engines)
    crate paceline-hashing-engines
    put "$target/release/paceline-hashing-engines" paceline-hashing-engines
    ;;
esac
