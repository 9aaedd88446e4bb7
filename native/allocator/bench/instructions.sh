#!/bin/sh
# Instructions of one operation of random_mixed, counted by callgrind: a figure without noise.
#
#   instructions.sh [WORKING_SET…]    a line per arm that is built, a column per working set (256 and 8,192)
#
# Twice the operations less once, so that start-up and filling the table fall away. The loop around malloc and
# free is in the figure, and is the same for every arm. Preloaded, one thread, compat.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${OUT:-$here/../build/bench}
times=100000
[ $# -gt 0 ] || set -- 256 8192

count() { # count LIBRARY HARDENED WORKING_SET TIMES
    printf 'round 1 %s 100000 0\n' "$4" |
        env LD_PRELOAD="$1" PACELINE_ALLOC_HARDENED="$2" PACELINE_ALLOC_RANGE_GIB=16 \
            valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/subject" \
            random_mixed --seed 7 --slots "$3" 2>&1 >/dev/null | sed -n 's/.*Collected : //p' |
        grep . || echo 0 # under valgrind some arm does not start: its figure is 0
}

line() { # line NAME LIBRARY HARDENED WORKING_SET…
    printf '%-20s' "$1"
    library=$2 hardened=$3
    shift 3
    for slots; do
        spent=$(($(count "$library" "$hardened" "$slots" $((2 * times))) - \
            $(count "$library" "$hardened" "$slots" $times)))
        printf ' %9s' "$(awk "BEGIN { printf \"%.1f\", $spent / $times }")"
    done
    printf '\n'
}

printf '%-20s' arm
printf ' %9s' "$@"
printf '\n'
line system "" 0 "$@"
line paceline_hardened "$folder/lib/libpaceline.so" 1 "$@"
for library in "$folder"/lib/lib*.so; do
    name=$(basename "$library" .so)
    [ "$name" = libpaceline_trace ] || line "${name#lib}" "$library" 0 "$@"
done
