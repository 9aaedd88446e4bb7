#!/bin/sh
# Instructions of one operation of random_mixed, counted by callgrind: a figure without noise.
#
#   instructions.sh [--cache] [WORKING_SET…]    a line per arm that is built, a column per working set (256
#                                               and 8,192); --cache: also N.D1 and N.LL, what an operation
#                                               misses in a first cache of 32 KiB and a last one of 8 MiB
#
# Twice the operations less once, so that start-up and filling the table fall away. The loop around malloc and
# free is in the figure, and is the same for every arm. Preloaded, one thread, compat.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${OUT:-$here/../build/bench}
times=100000
cache=
if [ "${1:-}" = --cache ]; then
    cache="--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64"
    shift
fi
[ $# -gt 0 ] || set -- 256 8192

# Of the cache's figures reads and writes together: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw.
count() { # count LIBRARY HARDENED WORKING_SET TIMES: instructions, misses in D1, misses in LL
    # shellcheck disable=SC2086
    printf 'round 1 %s 100000 0\n' "$4" |
        env LD_PRELOAD="$1" PACELINE_ALLOC_HARDENED="$2" PACELINE_ALLOC_RANGE_GIB=16 \
            valgrind --tool=callgrind $cache --callgrind-out-file=/dev/null "$folder/subject" \
            random_mixed --seed 7 --slots "$3" 2>&1 >/dev/null |
        awk '/Collected : / { sub(/.*Collected : /, ""); print $1, $5 + $6, $8 + $9; there = 1 }
            END { if (!there) print 0, 0, 0 }' # under valgrind some arm does not start: its figure is 0
}

line() { # line NAME LIBRARY HARDENED WORKING_SET…
    printf '%-20s' "$1"
    library=$2 hardened=$3
    shift 3
    for slots; do
        twice=$(count "$library" "$hardened" "$slots" $((2 * times)))
        once=$(count "$library" "$hardened" "$slots" $times)
        echo "$twice $once $times ${cache:+3}" | awk '{ printf " %9.1f", ($1 - $4) / $7
            for (i = 2; i <= $8; i++) printf " %9.3f", ($i - $(i + 3)) / $7 }'
    done
    printf '\n'
}

printf '%-20s' arm
for slots; do
    printf ' %9s' "$slots" ${cache:+"$slots.D1" "$slots.LL"}
done
printf '\n'
line system "" 0 "$@"
line paceline_hardened "$folder/lib/libpaceline.so" 1 "$@"
for library in "$folder"/lib/lib*.so; do
    name=$(basename "$library" .so)
    [ "$name" = libpaceline_trace ] || line "${name#lib}" "$library" 0 "$@"
done
