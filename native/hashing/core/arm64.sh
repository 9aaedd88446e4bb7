#!/bin/sh
# Builds the core for AArch64, runs its tests under qemu, and counts the SHA instructions in what was built.
#
#   arm64.sh [all]      tests and instructions
#   arm64.sh few        what `make test-native` runs: the vectors. It looks for the instructions in the program for
#                       devices, and runs that under qemu, too (tests/test_hashing_builds.py)
#   arm64.sh count      instructions only
#
# The programs are static, like those for devices (../../.cargo/config.toml): no cross compiler is needed. On an
# AArch64 machine qemu is not used, either. Honours CARGO_TARGET_DIR; ignores RUSTFLAGS, which are for the host.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-all}
case $what in
all | few | count) ;;
*)
    echo "arm64.sh: unknown argument '$what'; use few, count or nothing" >&2
    exit 2
    ;;
esac
triple=aarch64-unknown-linux-musl
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null || {
        echo "arm64.sh: '$1' is not installed; on Debian and Ubuntu: apt-get install $2" >&2
        exit 1
    }
}
if [ "$(uname -m)" = aarch64 ]; then
    objdump=objdump
    need objdump binutils
else
    objdump=aarch64-linux-gnu-objdump
    need "$objdump" binutils-aarch64-linux-gnu
    [ "$what" = count ] || need qemu-aarch64-static qemu-user-static
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64-static
fi
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || {
    echo "arm64.sh: rustc has no standard library for $triple; run: rustup target add $triple" >&2
    exit 1
}
cd "$here"
target=${CARGO_TARGET_DIR:-$here/../../target}
cargo_arm64() { # cargo_arm64 COMMAND ARGUMENT…
    command=$1
    shift
    cargo "$command" --quiet --release --locked --target "$triple" --target-dir "$target" \
        -p paceline-hashing-core "$@"
}
# The tests are about the code and not the linker: without optimising across crates they build in half the time.
run_tests() { CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo_arm64 test "$@"; }
case $what in
all) run_tests ;;
few)
    run_tests --test vectors
    exit
    ;;
esac
# An example is linked, so what is counted is code that a program would run.
cargo_arm64 build --example digest
program=$target/$triple/release/examples/digest
missing=0
for instruction in sha1c sha1p sha1m sha1h sha1su0 sha1su1 sha256h sha256h2 sha256su0 sha256su1; do
    count=$("$objdump" --disassemble --no-show-raw-insn "$program" |
        awk -v wanted="$instruction" '$2 == wanted { n++ } END { print n + 0 }')
    echo "$instruction $count"
    [ "$count" -gt 0 ] || missing=1
done
[ "$missing" -eq 0 ] || {
    echo "arm64.sh: an instruction of the cryptographic extensions is not in the program" >&2
    exit 1
}
