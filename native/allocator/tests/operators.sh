#!/bin/sh
# Tests operator new and delete of C++ programs, for each way of linking or preloading them.
#
#   operators.sh BUILD    prints a line per case and "N passed, N failed, N skipped"; exit 1 on a failure
#
# BUILD is where build.sh made both libraries. CXX and CC are honoured. Without a C++ compiler what needs one
# is skipped.
set -u
build=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cc=${CC:-cc}
cxx=${CXX:-c++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

verdict() { # verdict NAME: of the status before
    if [ $? -eq 0 ]; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        sed 's/^/     /' "$work/said"
        failed=$((failed + 1))
    fi
}

dies() { # dies TEXT COMMAND…: by its own message
    text=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        return 1
    fi
    grep -q "paceline_alloc: $text" "$work/said"
}

# Every reference to an operator, by the loader's own account: the C++ library's, which throws, too.
bound_to_ours() { # bound_to_ours COMMAND…
    LD_BIND_NOW=1 LD_DEBUG=bindings "$@" forms 2>&1 | grep 'symbol `_Z\(n[aw]m\|d[al]P\)' >"$work/said"
    grep -q paceline "$work/said" && ! grep -v ' to [^ ]*paceline_alloc' "$work/said"
}

cases() { # cases WAY COMMAND…
    way=$1
    shift
    for hardened in 0 1; do
        for case in forms exceptions handlers limited; do
            PACELINE_ALLOC_HARDENED=$hardened "$@" $case >"$work/said" 2>&1
            verdict "$way: $case (hardened=$hardened)"
        done
        PACELINE_ALLOC_HARDENED=$hardened PACELINE_ALLOC_SAMPLE=0 dies "double free" "$@" twice
        verdict "$way: twice (hardened=$hardened)"
        PACELINE_ALLOC_HARDENED=$hardened PACELINE_ALLOC_SAMPLE=0 dies "" "$@" inside
        verdict "$way: inside (hardened=$hardened)"
    done
}

with_cxx() {
    # shellcheck disable=SC2086 # lists of words
    {
        made="$cxx -std=c++17 -O1 -g -Wall -Wextra -Werror -pthread"
        $made -o "$work/plain" "$here/operators.cpp" &&
            $made -o "$work/by-library" "$here/operators.cpp" "$build/libpaceline_alloc.so" &&
            $made -o "$work/by-archive" "$here/operators.cpp" "$build/libpaceline_alloc.a" &&
            $made -DPLUGIN -fPIC -shared -Wno-unused-function -o "$work/plugin.so" "$here/operators.cpp"
    } >"$work/said" 2>&1
    verdict "a C++ program is built in each way"
    [ -e "$work/plugin.so" ] || return
    cases preloaded env LD_PRELOAD="$build/libpaceline_alloc.so" "$work/plain"
    cases linked env LD_LIBRARY_PATH="$build" "$work/by-library"
    cases archive "$work/by-archive"
    if LD_DEBUG=bindings "$work/plain" forms 2>&1 | grep -q 'binding file'; then
        bound_to_ours env LD_PRELOAD="$build/libpaceline_alloc.so" "$work/plain"
        verdict "preloaded: the operators are ours"
    else
        echo "skip preloaded, whose operators: this loader does not say what it binds"
        skipped=$((skipped + 1))
    fi
    [ "$(nm "$work/by-archive" | grep -c ' [TW] _Z\(n[aw]m\|d[al]Pv\)')" = 20 ]
    verdict "archive: the operators are ours, all twenty"
    cat >"$work/host.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
    void *handle = dlopen(arguments[count - 1], RTLD_NOW | RTLD_LOCAL);
    int (*plugin)(void) = handle == NULL ? NULL : (int (*)(void))dlsym(handle, "plugin");
    if (plugin == NULL) { fputs(dlerror(), stderr); return 1; }
    return plugin() == 1 ? 0 : 1;
}
C
    $cc -o "$work/host" "$work/host.c" -ldl >"$work/said" 2>&1 &&
        LD_PRELOAD="$build/libpaceline_alloc.so" "$work/host" "$work/plugin.so" >"$work/said" 2>&1
    verdict "a plug-in in C++ of a program without: exceptions and handlers"
}

# No C++ library at all: the archive asks for none, all of it linked.
cat >"$work/alone.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
extern void *_Znwm(size_t);
extern void _ZdlPv(void *);
int main(void) {
    char *text = malloc(100), *object = _Znwm(100);
    snprintf(text, 100, "%s", "works");
    puts(text);
    _ZdlPv(object);
    free(text);
    return 0;
}
C
# shellcheck disable=SC2086
$cc -o "$work/alone" "$work/alone.c" -Wl,--whole-archive "$build/libpaceline_alloc.a" -Wl,--no-whole-archive \
    -pthread >"$work/said" 2>&1 && [ "$("$work/alone" 2>&1)" = works ]
verdict "a C program with all of the archive and no C++ library"
# shellcheck disable=SC2086
if printf 'int main(void) { return 0; }\n' | $cc -static -x c -o "$work/empty" - 2>/dev/null; then
    # shellcheck disable=SC2086
    $cc -static -o "$work/static" "$work/alone.c" "$build/libpaceline_alloc.a" -pthread >"$work/said" 2>&1 &&
        [ "$("$work/static" 2>&1)" = works ]
    verdict "a C program without any shared library"
else
    echo "skip static programs: no static C library here"
    skipped=$((skipped + 1))
fi
if command -v "${cxx%% *}" >/dev/null; then
    with_cxx
else
    echo "skip programs in C++: no C++ compiler here"
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
