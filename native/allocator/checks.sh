#!/bin/sh
# What `make test` runs of the allocator: its tests, and the same under the address and the thread sanitizer.
#
# By hand, because they take minutes or need other tools: `build.sh fuzz`, `tests/preload.sh` (real programs),
# `tests/programs.py` (their time), `CC=clang build.sh check`, the static builds (`build.sh static`).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
echo "== tests"
"$here/build.sh" check
echo "== operators of C++"
sh "$here/tests/operators.sh" "${BUILD:-$here/build}"
echo "== loaded late"
sh "$here/tests/late_load.sh" "${BUILD:-$here/build}"
echo "== address and undefined behaviour"
"$here/build.sh" sanitize address
echo "== threads"
"$here/build.sh" sanitize thread
