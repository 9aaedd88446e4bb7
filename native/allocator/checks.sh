#!/bin/sh
# Runs the allocator's tests, and the same under the address and the thread sanitizer.
#
#   checks.sh        all of them; `make test-native` does this
#   checks.sh few    what `make test` runs: without the thread sanitizer, which takes two thirds of the time
#
# By hand, because they take minutes or need other tools: `build.sh fuzz`, `tests/preload.sh` (real programs),
# `tests/programs.py` (their time), `CC=clang build.sh check`, the static builds (`build.sh static`).
set -eu
what=${1:-all}
case $what in
all | few) ;;
*)
    echo "checks.sh: unknown argument '$what'; use few, all or nothing" >&2
    exit 2
    ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
echo "== tests"
"$here/build.sh" check
echo "== misuse that hardened mode catches"
"$here/build.sh" security --check
echo "== operators of C++"
sh "$here/tests/operators.sh" "${BUILD:-$here/build}"
echo "== loaded late"
sh "$here/tests/late_load.sh" "${BUILD:-$here/build}"
echo "== address and undefined behaviour"
"$here/build.sh" sanitize address
[ "$what" = all ] || exit 0
echo "== threads"
"$here/build.sh" sanitize thread
