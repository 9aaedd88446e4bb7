#!/bin/sh
# Builds what the workloads of this suite run and leaves it in build/ beside this script, under names that
# are the same on every platform (the JVM loads the library by full path, so its ending does not matter).
#
#   build.sh            libraries and jar
#   build.sh library    both build/libpaceline_*.so only (what `mvn verify` in jvm/ needs)
#   build.sh jar        build/hashing.jar only
#   build.sh engines    build/paceline-hashing-engines only: no JVM needed
#
# Works in any checkout or worktree. Honours CARGO_TARGET_DIR, and MAVEN_ARGS for Maven (for instance
# --offline).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-all}
case $what in
all | library | jar | engines) ;;
*)
    echo "build.sh: unknown argument '$what'; use library, jar, engines or nothing" >&2
    exit 2
    ;;
esac
tools="cargo java mvn"
[ "$what" != engines ] || tools=cargo
for tool in $tools; do
    command -v "$tool" >/dev/null || {
        echo "build.sh: '$tool' is not installed; 'make setup' at the root of the repository installs it" >&2
        exit 1
    }
done
mkdir -p "$here/build"

if [ "$what" = engines ]; then
    cd "$here/.."
    target=${CARGO_TARGET_DIR:-$here/../target}
    cargo build --quiet --release --locked --target-dir "$target" -p paceline-hashing-engines
    # Replace, never overwrite: an old one may be running.
    cp "$target/release/paceline-hashing-engines" "$here/build/engines.new"
    mv -f "$here/build/engines.new" "$here/build/paceline-hashing-engines"
    exit 0
fi

if [ "$what" != jar ]; then
    cd "$here/.."
    target=${CARGO_TARGET_DIR:-$here/../target}
    cargo build --quiet --release --locked --target-dir "$target" \
        -p paceline-hashing-jni -p paceline-hashing-piece
    for name in paceline_hashing paceline_piece; do
        for built in "lib$name.so" "lib$name.dylib" "$name.dll"; do
            if [ -f "$target/release/$built" ]; then
                # Replace, never overwrite: a running JVM may have the old file mapped.
                cp "$target/release/$built" "$here/build/library.new"
                mv -f "$here/build/library.new" "$here/build/lib$name.so"
            fi
        done
    done
fi

if [ "$what" != library ]; then
    cd "$here/jvm"
    # shellcheck disable=SC2086 # MAVEN_ARGS is a list of words
    mvn -B -q -Dstyle.color=never -DskipTests ${MAVEN_ARGS:-} package
    cp workloads/target/hashing.jar "$here/build/jar.new"
    mv -f "$here/build/jar.new" "$here/build/hashing.jar"
fi
