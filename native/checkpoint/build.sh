#!/bin/sh
# Builds what the suite runs and leaves it in build/ beside this script. Works in any checkout or worktree.
#
#   build.sh                      build/paceline-checkpoint-bench, build/paceline-checkpoint (an arm, too)
#   build.sh android bands ABI    what the suite runs on a device, in build/ABI/ (android.sh)
#
# Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ "${1:-}" = android ]; then
    shift
    exec sh "$here/android.sh" "$@"
fi
command -v cargo >/dev/null || {
    echo "build.sh: 'cargo' is not installed; 'make setup' at the root of the repository installs it" >&2
    exit 1
}
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$here/build"
(cd "$here/.." && cargo build --quiet --release --locked --target-dir "$target" \
    -p paceline-checkpoint-bench -p paceline-checkpoint-cli)
for name in paceline-checkpoint-bench paceline-checkpoint; do
    # Replaced, never overwritten: a running process may have the old file mapped.
    cp "$target/release/$name" "$here/build/$name.new"
    mv -f "$here/build/$name.new" "$here/build/$name"
done
