#!/bin/sh
# Builds the allocator and its tests into build/ beside this script.
#
#   build.sh                 library: build/libpaceline_alloc.so and build/libpaceline_alloc.a
#   build.sh tests           and build/check, the tests, against the static library
#   build.sh check [ARGS]    builds and runs the tests (ARGS: --only=TEXT --operations=N --steps=N --seed=N)
#   build.sh security [ARGS] what misuse of the heap is caught, beside the C library's allocator: a table
#                            (tests/security.c; ARGS: --check, hardened mode alone)
#   build.sh static          build/libpaceline_alloc.a and build/check, linked without shared libraries (musl,
#                            other processors)
#   build.sh sanitize NAME   the tests with address (and undefined) or thread, in build/NAME/check
#   build.sh fuzz [ARGS]     the seeded fuzzer of operation sequences (ARGS: --operations=N --seed=N), with
#                            the address sanitizer; build/libfuzzer, the same for libFuzzer, where CC has it
#   build.sh archive         build/libpaceline_alloc.a alone
#   build.sh android WORKLOAD ABI    what the suite runs on a device, in build/ABI/ (android.sh)
#   build.sh instructions    instructions of a malloc and free pair, by callgrind, beside other allocators
#
# Honours CC and AR (words), CFLAGS (added), BUILD (the folder) and OTHERS (paths of allocators for
# `instructions`).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=${BUILD:-$here/build}
what=${1:-library}
[ $# -eq 0 ] || shift
cc=${CC:-cc}
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
  -Wcast-qual -Wpointer-arith -Wundef -Wvla -Werror"
# The compiler must not make a call of calloc out of our malloc and memset.
own="-fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free"
flags="-std=c11 -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -pthread $own $warnings ${CFLAGS:-}"

# The exits stand because `set -e` does not reach into a function called before `&&`.
compile() { # compile FOLDER FLAGS…: every source into FOLDER/objects
    folder=$1
    shift
    mkdir -p "$folder/objects"
    for source in "$here"/src/*.c; do
        object=$folder/objects/$(basename "$source" .c).o
        case $source in */operators.c) passes=-fexceptions ;; *) passes= ;; esac
        # shellcheck disable=SC2086
        $cc $flags $passes "$@" -I"$here/include" -I"$here/src" -c "$source" -o "$object" || exit 1
    done
}

archive() {
    rm -f "$build/libpaceline_alloc.a"
    # shellcheck disable=SC2086
    ${AR:-ar} rcs "$build/libpaceline_alloc.a" "$build"/objects/*.o || exit 1
}

library() {
    compile "$build"
    # shellcheck disable=SC2086
    $cc -shared -pthread -Wl,-z,now ${CFLAGS:-} -o "$build/libpaceline_alloc.so.new" \
        "$build"/objects/*.o || exit 1
    mv "$build/libpaceline_alloc.so.new" "$build/libpaceline_alloc.so"
    archive
}

# tests FOLDER FLAGS…; numbers made up for a test may lose bits when they become sizes and stamps
tests() {
    folder=$1
    shift
    # shellcheck disable=SC2086
    $cc -std=c11 -O1 -g -pthread $warnings -Wno-conversion -Wno-sign-conversion ${CFLAGS:-} "$@" \
        -I"$here/include" -I"$here/src" -I"$here/tests" "$here"/tests/check.c "$here"/tests/test_*.c \
        "$folder"/objects/*.o -o "$folder/check" || exit 1
}

case $what in
library) library ;;
archive) compile "$build" && archive ;;
android) exec sh "$here/android.sh" "$@" ;;
tests) library && tests "$build" ;;
check) library && tests "$build" && exec "$build/check" "$@" ;;
security)
    library
    # shellcheck disable=SC2086
    $cc -std=c11 -O1 -g $own $warnings ${CFLAGS:-} "$here/tests/security.c" -o "$build/security"
    exec "$build/security" "$build/libpaceline_alloc.so" "$@"
    ;;
static) compile "$build" && archive && tests "$build" -static ;;
sanitize)
    kind=${1:?build.sh sanitize address or thread}
    shift
    sanitizers=$kind
    [ "$kind" = address ] && sanitizers=address,undefined
    compile "$build/$kind" -DPACELINE_OWN_NAMES_ONLY -fsanitize="$sanitizers" -fno-sanitize-recover=all
    tests "$build/$kind" -fsanitize="$sanitizers" -fno-sanitize-recover=all
    # The thread sanitizer leaves less room between the addresses it uses.
    PACELINE_ALLOC_RANGE_GIB=16 exec "$build/$kind/check" "$@"
    ;;
fuzz)
    flags_of_fuzz="-DPACELINE_OWN_NAMES_ONLY -fsanitize=address,undefined -fno-sanitize-recover=all"
    # shellcheck disable=SC2086
    compile "$build/fuzz" $flags_of_fuzz
    # shellcheck disable=SC2086
    fuzzer() { # fuzzer NAME FLAGS…
        name=$1
        shift
        $cc -std=c11 -O1 -g -pthread $warnings -Wno-conversion -Wno-sign-conversion $flags_of_fuzz "$@" \
            -I"$here/include" "$here/tests/fuzz.c" "$build"/fuzz/objects/*.o -o "$build/$name"
    }
    fuzzer fuzz-alone -DFUZZ_ALONE
    fuzzer libfuzzer -fsanitize=fuzzer 2>/dev/null || echo "no libFuzzer in $cc: build/fuzz-alone only"
    PACELINE_ALLOC_RANGE_GIB=16 exec "$build/fuzz-alone" "$@"
    ;;
instructions) library && exec sh "$here/tests/instructions.sh" "$build" ;;
*)
    echo "build.sh: unknown argument '$what'" >&2
    echo "use library, archive, tests, check, security, static, sanitize, fuzz, android or instructions" >&2
    exit 2
    ;;
esac
