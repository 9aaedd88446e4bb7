#!/bin/sh
# Builds what the allocator suite runs, into build/bench/ beside the allocator's own build:
#
#   build.sh              everything
#   build.sh programs     the workload and its parts
#   build.sh parts        the subject, our library, the bound, the recorder and the traces: nothing of Cargo's
#   build.sh arm NAME     one of others' allocators: mimalloc343 mimalloc mimalloc2 jemalloc tcmalloc gperftools
#                         snmalloc rpmalloc
#
#   build/bench/paceline-allocator-bench    the workload
#   build/bench/subject                     the process of an arm, for LD_PRELOAD
#   build/bench/direct/subject-ARM          the same, the arm linked into it
#   build/bench/lib/libARM.so               what is preloaded
#   build/bench/lib/ARM.why                 or why there is none: the suite goes on without that arm
#   build/bench/traces/NAME.trace           traces of `replay`: a file put into ../traces/captured is one
#   build/bench/programs/                   inputs of `programs`
#
# Honours CC, CXX, CFLAGS (added), CARGO_TARGET_DIR, OUT (in place of
# build/bench). An arm that was built of the same sources is not built again.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
native=$(CDPATH='' cd -- "$here/../.." && pwd)
out=${OUT:-$here/../build/bench}
target=${CARGO_TARGET_DIR:-$native/target}
cc=${CC:-cc}
cxx=${CXX:-c++}
others="mimalloc343 mimalloc mimalloc2 jemalloc tcmalloc gperftools snmalloc rpmalloc"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
  -Wcast-qual -Wpointer-arith -Wundef -Wvla -Werror"
# The compiler must neither drop a malloc whose object it sees freed nor make other calls out of ours.
own="-fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free"
flags="-std=c11 -O2 -fPIC -ftls-model=initial-exec -pthread $own $warnings ${CFLAGS:-}"

put_stripped() { # put_stripped FILE NAME: replace, never overwrite; a running process may have the old file mapped
    strip --strip-debug -o "$out/$2.new" "$1"
    mv -f "$out/$2.new" "$out/$2"
}

# link_arm NAME LINKER INPUT…: a library to preload, and the subject with the same linked into it
link_arm() {
    name=$1 linker=$2
    shift 2
    $linker -shared -pthread -o "$out/objects/lib$name.so" "$@" -ldl &&
        $linker -pthread -rdynamic -o "$out/objects/subject-$name" "$out"/objects/subject/*.o "$@" -ldl -lm &&
        put_stripped "$out/objects/lib$name.so" "lib/lib$name.so" &&
        put_stripped "$out/objects/subject-$name" "direct/subject-$name"
}

parts() {
    for source in "$here"/subject/*.c; do
        # shellcheck disable=SC2086
        $cc $flags -c "$source" -o "$out/objects/subject/$(basename "$source" .c).o"
    done
    $cc -pthread -rdynamic -o "$out/objects/subject.linked" "$out"/objects/subject/*.o -ldl
    put_stripped "$out/objects/subject.linked" subject
    # shellcheck disable=SC2086
    $cc $flags -c "$here/bound/bound.c" -o "$out/objects/bound.o"
    link_arm bound "$cc" "$out/objects/bound.o"
    # shellcheck disable=SC2086
    $cc $flags -shared -o "$out/objects/libpaceline_trace.so" "$here/recorder/recorder.c"
    put_stripped "$out/objects/libpaceline_trace.so" lib/libpaceline_trace.so
    BUILD=$out/objects/ours sh "$here/../build.sh" library
    link_arm paceline "$cc" -Wl,--whole-archive "$out/objects/ours/libpaceline_alloc.a" -Wl,--no-whole-archive
    rm -f "$out"/traces/*
    cp "$here"/../traces/captured/*.trace "$out/traces/"
    rm -rf "$out/programs"
    cp -R "$here/programs" "$out/programs"
}

programs() {
    parts
    (cd "$native" &&
        cargo build --quiet --release --locked --target-dir "$target" -p paceline-allocator-bench)
    put_stripped "$target/release/paceline-allocator-bench" paceline-allocator-bench
}

# What Cargo said of the crate that carries an arm: `said manifest_path` or `said out_dir`.
said() {
    printf '%s\n' "$messages" | grep "$crate" |
        sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | sort -u | tail -n 1
}

# Nothing to build: a wheel checked against its hash, whose library is preloaded as it came.
with_pip() { # the first Python on PATH that has pip: an environment of uv's has none, and comes first
    IFS=:
    for folder in $PATH; do
        "$folder/python3" -m pip --version >/dev/null 2>&1 && echo "$folder/python3" && return
    done
    echo "build.sh: no uv here, and no python3 that has pip" >&2
    return 1
}

wheel_arm() { # wheel_arm NAME LIBRARY, of which NAME.txt pins the wheel
    wheel=$out/objects/$1
    sources=$(sed -n 's/^\([^# ]*\)==\([^ ]*\).*/\1-\2/p' "$here/arms/$1.txt")
    rm -rf "$wheel"
    if command -v uv >/dev/null; then
        uv pip install --quiet --no-deps --require-hashes --target "$wheel" -r "$here/arms/$1.txt"
    else
        python=$(with_pip) || return 1
        "$python" -m pip install --quiet --no-deps --require-hashes --only-binary=:all: \
            --target "$wheel" -r "$here/arms/$1.txt"
    fi || return 1
    echo "its wheel carries a library to preload and none to link" >"$out/lib/$1.why"
    put_stripped "$wheel/$2" "lib/lib$1.so"
}

# Nothing to build either: as the system has it, Debian's libtcmalloc-minimal4.
system_arm() { # system_arm NAME FILE PACKAGE
    found=$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p | sed -n "s/.*[[:space:]]$2 .*=> //p" | head -n 1)
    if [ -z "$found" ]; then
        echo "$2 is not installed (Debian: $3)" >"$out/lib/$1.why"
        cat "$out/lib/$1.why" >&2
        return 3
    fi
    sources=$(basename "$(readlink -f "$found")")
    echo "it is as the system has it: a library to preload and none to link" >"$out/lib/$1.why"
    put_stripped "$(readlink -f "$found")" "lib/lib$1.so"
}

build_arm() { # build_arm NAME
    arm=$1
    case $arm in
    mimalloc343)
        wheel_arm "$arm" cmeel.prefix/lib/libmimalloc.so
        return
        ;;
    gperftools)
        system_arm "$arm" libtcmalloc_minimal.so.4 libtcmalloc-minimal4
        return
        ;;
    mimalloc | mimalloc2) crate=libmimalloc-sys ;;
    jemalloc) crate=tikv-jemalloc-sys ;;
    tcmalloc) crate=libtcmalloc-sys ;;
    snmalloc | rpmalloc) crate=$arm-sys ;;
    *) echo "build.sh: no arm '$arm'; there are $others" >&2 && return 2 ;;
    esac
    messages=$(cd "$native" && cargo build --release --locked --target-dir "$target" \
        -p paceline-allocator-arms --features "$arm" --message-format=json) || return 1
    built=$(said out_dir)
    sources=$(dirname "$(said manifest_path)")
    cplusplus="$cxx -static-libstdc++ -static-libgcc"
    case $arm in
    mimalloc | mimalloc2 | jemalloc)
        archive=$(find "$built" -name "lib${arm%2}*.a" ! -name '*_pic.a' | head -n 1)
        link_arm "$arm" "$cc" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
        ;;
    tcmalloc) # its crate leaves out the usual names
        names=
        for pair in malloc=Malloc free=Free calloc=Calloc realloc=Realloc memalign=Memalign \
            aligned_alloc=AlignedAlloc posix_memalign=PosixMemalign malloc_usable_size=MallocSize; do
            names="$names -Wl,--defsym=${pair%=*}=TCMallocInternal${pair#*=}"
        done
        # shellcheck disable=SC2086
        link_arm "$arm" "$cplusplus" $names -Wl,--whole-archive "$built/libtcmalloc.a" -Wl,--no-whole-archive
        ;;
    snmalloc)
        $cxx -std=c++20 -O3 -DNDEBUG -fPIC -ftls-model=initial-exec -mcx16 -DSNMALLOC_USE_WAIT_ON_ADDRESS=1 \
            -I"$sources/upstream/src" \
            -c "$sources/upstream/src/snmalloc/override/malloc.cc" -o "$out/objects/snmalloc.o" &&
            link_arm "$arm" "$cplusplus" "$out/objects/snmalloc.o"
        ;;
    rpmalloc)
        $cc -O3 -DNDEBUG -fPIC -ftls-model=initial-exec -D_GNU_SOURCE -DENABLE_OVERRIDE=1 \
            -DENABLE_PRELOAD=1 -w -c "$sources/rpmalloc/rpmalloc/rpmalloc.c" -o "$out/objects/rpmalloc.o" &&
            link_arm "$arm" "$cc" "$out/objects/rpmalloc.o"
        ;;
    esac
}

# Others' sources change only with the lock file and this script.
arm_once() {
    stamp=$(cat "$native/Cargo.lock" "$0" "$here"/arms/*.txt "$here"/subject/*.[ch] | cksum)
    if [ "$(cat "$out/objects/$1.stamp" 2>/dev/null)" = "$stamp" ] && [ -f "$out/lib/lib$1.so" ]; then
        return 0
    fi
    rm -f "$out/lib/lib$1.so" "$out/lib/$1.why" "$out/direct/subject-$1"
    if build_arm "$1" >"$out/objects/$1.log" 2>&1; then
        basename "$sources" >"$out/lib/$1.version"
        echo "$stamp" >"$out/objects/$1.stamp"
    else
        [ -f "$out/lib/$1.why" ] ||
            echo "it could not be built here: see build/objects/$1.log beside the suite" >"$out/lib/$1.why"
        tail -n 5 "$out/objects/$1.log" >&2
        echo "build.sh: no arm $1, the suite goes on without it" >&2
    fi
}

mkdir -p "$out/lib" "$out/direct" "$out/traces" "$out/objects/subject" "$out/objects/ours"
case ${1:-all} in
parts) parts ;;
programs) programs ;;
arm) arm_once "${2:?build.sh arm NAME}" ;;
all)
    programs
    for each in $others; do
        arm_once "$each"
    done
    ;;
*)
    echo "build.sh: unknown argument '$1'; use programs, parts, arm NAME or nothing" >&2
    exit 2
    ;;
esac
