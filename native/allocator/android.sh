#!/bin/sh
# Builds what the suite runs on an Android device; `build.sh android allocators ABI` calls it.
#
#   android.sh allocators ABI    into build/ABI/, ABI being arm64-v8a or x86_64, static programs all:
#       paceline-allocator-bench    the workload, and the calibrator beside it
#       subject                     the process of the arm `system`: with musl's malloc
#       direct/subject-ARM          the same with an arm linked in; nothing can be preloaded into either
#       lib/ARM.version, ARM.why    of which crate an arm is, or why there is none
#       traces/NAME.trace           traces of `replay`
#
# zig compiles the C and C++; rustc links, as every program for devices. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-}
abi=${2:-}
. "$here/../android.sh"
[ "$what" = allocators ] || fail 2 "unknown workload '$what'; use allocators"
with_zig
with_std "$musl"
bench=$here/bench
objects=$target/allocator-$abi
eval "cc=\$CC_$suffix" "ar=\$AR_$suffix" "cflags=\$CFLAGS_$suffix"
cflags="$cflags -ffile-prefix-map=$here=allocator"
# The compiler must neither drop a malloc whose object it sees freed nor make other calls out of ours.
own="-fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free"
others="-w -DNDEBUG -D_GNU_SOURCE -ftls-model=initial-exec $own"
case $abi in x86_64) wide=-mcx16 ;; *) wide= ;; esac

compile() { # compile SOURCE OBJECT FLAG…
    source=$1 object=$2 compiler=$cc
    shift 2
    case $source in *.cc) compiler="$zig c++ ${cc#"$zig cc"}" ;; esac
    # shellcheck disable=SC2086 # lists of words
    $compiler $cflags "$@" -c "$source" -o "$objects/$object"
}

# The folder of the crate that carries an arm, as Cargo.lock pins it.
sources_of() { # sources_of CRATE
    printf '%s\n' "$metadata" | tr ',' '\n' |
        sed -n "s|^\"manifest_path\":\"\(.*/$1-[0-9][^/]*\)/Cargo.toml\"|\1|p"
}

# link NAME OBJECT…: a subject. Its marks stand around what the arm consists of (bench/subject/provider.c),
# and all of it before the C library, or that would give its own malloc. How it is linked is what
# .cargo/config.toml says of cargo's own, which does not reach here.
link() {
    name=$1
    shift
    rm -f "$objects/libarm.a"
    # shellcheck disable=SC2086
    $ar rcs "$objects/libarm.a" $subject "$objects/begin.o" "$@" "$objects/end.o"
    rustc --edition 2024 --target "$musl" -Copt-level=3 -Cpanic=abort -Cstrip=debuginfo -Clinker=rust-lld \
        -Ctarget-feature=+crt-static -Crelocation-model=static -Clink-self-contained=yes \
        -Clink-arg=-zmax-page-size=65536 -L "$objects" -l static:+whole-archive=arm \
        "$bench/linked/subject.rs" -o "$objects/$name"
    put "$objects/$name" "$name"
}

parts() {
    subject=
    for source in "$bench"/subject/*.c; do
        object=subject-$(basename "$source" .c).o
        # shellcheck disable=SC2086
        compile "$source" "$object" -std=c11 -pthread -DPACELINE_STATIC $own -Wall -Wextra -Werror
        subject="$subject $objects/$object"
    done
    compile "$bench/linked/begin.c" begin.o -std=c11
    compile "$bench/linked/end.c" end.o -std=c11
    link subject
    echo "musl's own malloc, of $(rustc --version)" >"$out/lib/system.version"
    compile "$bench/bound/bound.c" bound.o -std=c11 -pthread
    link direct/subject-bound "$objects/bound.o"
    CC=$cc AR=$ar CFLAGS=$cflags BUILD=$objects/ours sh "$here/build.sh" archive
    link direct/subject-paceline "$objects"/ours/objects/*.o
    for trace in "$here"/traces/captured/*.trace; do put "$trace" "traces/$(basename "$trace")"; done
}

peer() { # peer NAME CRATE OBJECT…
    peer=$1
    basename "$(sources_of "$2")" >"$out/lib/$peer.version"
    shift 2
    # shellcheck disable=SC2046 # a list of words
    link "direct/subject-$peer" $(for object; do echo "$objects/$object"; done)
}

peers() {
    metadata=$(cd "$here/.." && cargo metadata --locked --format-version 1 --filter-platform "$musl" \
        --manifest-path "$bench/arms/Cargo.toml" --features mimalloc,snmalloc,rpmalloc)
    mimalloc=$(sources_of libmimalloc-sys)/c_src/mimalloc
    for version in v3 v2; do
        # shellcheck disable=SC2086
        compile "$mimalloc/$version/src/static.c" "mimalloc-$version.o" $others \
            -I"$mimalloc/$version/include" -I"$mimalloc/$version/src" \
            -DMI_MALLOC_OVERRIDE -DMI_BUILD_RELEASE -DMI_DEBUG=0 -DMI_LIBC_MUSL=1
    done
    peer mimalloc libmimalloc-sys mimalloc-v3.o
    peer mimalloc2 libmimalloc-sys mimalloc-v2.o
    # shellcheck disable=SC2086
    compile "$(sources_of rpmalloc-sys)/rpmalloc/rpmalloc/rpmalloc.c" rpmalloc.o $others -DENABLE_OVERRIDE=1 \
        -DENABLE_PRELOAD=1 -Ddlsym=next_of
    compile "$bench/linked/next.c" next.o -std=c11 -pthread
    peer rpmalloc rpmalloc-sys rpmalloc.o next.o
    upstream=$(sources_of snmalloc-sys)/upstream/src
    # Without a C++ library: its own part of the standard's, and destructors of threads by POSIX.
    # shellcheck disable=SC2086
    compile "$upstream/snmalloc/override/malloc.cc" snmalloc.o $others -std=c++20 $wide \
        -fno-exceptions -fno-rtti -I"$upstream" -DSNMALLOC_USE_WAIT_ON_ADDRESS=1 \
        -DSNMALLOC_USE_SELF_VENDORED_STL=1 -DSNMALLOC_USE_PTHREAD_DESTRUCTORS=1
    peer snmalloc snmalloc-sys snmalloc.o
}

why() { # why NAME TEXT: the arm is announced as unavailable
    echo "$1 is in no static program: $2" >"$out/lib/$1.why"
}

mkdir -p "$out/lib" "$out/direct" "$out/traces" "$objects/direct"
objects=$(cd "$objects" && pwd)
: >"$objects/begun"
parts 9>&-
peers 9>&-
why mimalloc343 "its wheel carries a shared library for glibc"
why jemalloc "its build settles on one size of pages, and devices have 4 and 16 KiB"
why gperftools "it is a shared library for glibc"
why tcmalloc "it is made for glibc, and what is linked here is musl"
# What an earlier build left and this one did not make; nothing goes sooner, for somebody may be running it.
find "$out/lib" "$out/direct" "$out/traces" -type f ! -newer "$objects/begun" -exec rm {} +
program paceline-allocator-bench
calibrator
