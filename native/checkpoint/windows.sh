#!/bin/sh
# Compiles the band store and its command for Windows, and runs their tests under wine.
#
#   windows.sh            compiles, and runs the tests (a minute and a half of a processor)
#   windows.sh compile    compiles only; `make test-native` does this
#
# Needs rustc's standard library for the triple. Running needs MinGW's gcc, which compiles the C of BLAKE3 and
# links, and wine; without them zig compiles, and a line says that nothing ran. Only tests on the real disk run
# here; those on the fake disk are the same on every system. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/../crates.sh"
what=${1:-all}
case $what in
all | compile) ;;
*) fail 2 "unknown argument '$what'; use compile or nothing" ;;
esac
triple=x86_64-pc-windows-gnu
with_std "$triple"
gcc=$(command -v x86_64-w64-mingw32-gcc || :)
if [ -z "$gcc" ]; then
    . "$here/../zig.sh"
    zig_for "$triple" x86_64-windows-gnu
fi
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
cd "$here/.."

for_windows() { # for_windows COMMAND [OPTION…]: cargo's, for both packages
    command=$1
    shift
    cargo "$command" --quiet --locked --target "$triple" --target-dir "$target" \
        -p paceline-checkpoint -p paceline-checkpoint-cli "$@"
}

for_windows clippy -- -D warnings
echo "windows.sh: the band store and its command compile for $triple"
[ "$what" = all ] || exit 0

wine=$(command -v wine64 || command -v wine || :)
[ -n "$gcc" ] && [ -n "$wine" ] || {
    echo "windows.sh: nothing ran, which needs wine (wine64) and a linker for Windows (gcc-mingw-w64-x86-64)"
    exit 0
}
# A prefix of its own (700 MB, in the target directory), without menus, .NET or a browser; without a display.
mkdir -p "$target/wine"
WINEPREFIX=$(cd "$target/wine" && pwd)
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="winemenubuilder.exe,mscoree,mshtml="
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$wine"
timeout 300 "$wine" cmd /c exit || {
    echo "windows.sh: wine does not start; try: rm -rf $WINEPREFIX" >&2
    exit 1
}
# Rust's standard library takes its chance from a library that wine 8 lacks.
chance=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
[ -e "$chance" ] || "$gcc" -shared -x c -o "$target/wine/chance.dll" - -ladvapi32 <<'END'
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *to, unsigned long count);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *to, unsigned long long count)
{
    return SystemFunction036(to, (unsigned long)count);
}
END
[ -e "$chance" ] || mv "$target/wine/chance.dll" "$chance"
CHECKPOINT_TRIALS=20 CHECKPOINT_WATCHED=30 for_windows test --test store -- \
    disk:: watched:: work:: beside:: aged::the_space a_write_in_the_tick an_owner_that_says_all
for_windows test --test kill --test archives --test commands --test watching
echo "windows.sh: and do what their tests ask for, under wine"
