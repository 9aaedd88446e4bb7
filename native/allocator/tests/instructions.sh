#!/bin/sh
# Instructions per malloc and free pair, counted by callgrind: a figure without noise.
#
#   instructions.sh BUILD    builds tests/pairs.c into BUILD and runs it under the system's allocator, ours,
#                            ours hardened, and each library in $OTHERS; a line per case
# A run that allocates nothing counts the instructions of the loop and of start-up, which are subtracted.
set -eu
build=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
pairs=20000
"${CC:-cc}" -std=c11 -O2 -fno-builtin -pthread -o "$build/pairs" "$here/pairs.c"

count() { # count LIBRARY HARDENED CASE PAIRS: instructions of the whole process
    env LD_PRELOAD="$1" PACELINE_ALLOC_HARDENED="$2" \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/pairs" "$3" "$4" 2>&1 |
        sed -n 's/.*Collected : //p'
}

measure() { # measure NAME LIBRARY HARDENED
    printf '%-22s' "$1"
    for kind in same mixed-256 mixed-8192 burst realloc calloc remote; do
        # Twice the pairs less once: start-up and first use fall away.
        once=$(count "$2" "$3" $kind $pairs)
        twice=$(count "$2" "$3" $kind $((pairs * 2)))
        loop_once=$(count "" 0 "loop-$kind" $pairs)
        loop_twice=$(count "" 0 "loop-$kind" $((pairs * 2)))
        spent=$((twice - once - loop_twice + loop_once))
        printf ' %9s' "$(awk "BEGIN { printf \"%.1f\", $spent / $pairs }")"
    done
    printf '\n'
}

printf '%-22s %9s %9s %9s %9s %9s %9s %9s\n' allocator same mixed-256 mixed-8192 burst realloc calloc remote
measure system "" 0
measure paceline "$build/libpaceline_alloc.so" 0
measure paceline_hardened "$build/libpaceline_alloc.so" 1
for other in ${OTHERS:-}; do
    measure "$(basename "$other" | cut -c1-21)" "$other" 0
done
