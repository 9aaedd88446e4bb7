#!/bin/sh
# Builds what the workloads of this suite run and leaves it in build/ beside this script.
#
#   build.sh              everything
#   build.sh finality     build/paceline-crypto-finality and build/libpaceline_finality.so
#   build.sh attestation  build/paceline-crypto-attestation and build/libpaceline_attestation_peers.so, the
#                         peers' second build: with curve25519-dalek's AVX-512 vectors, on x86-64
#   build.sh android WORKLOAD ABI    what the workload runs on a device, in build/ABI/ (android.sh)
#
# Works in any checkout or worktree. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-all}
if [ "$what" = android ]; then
    shift
    exec sh "$here/android.sh" "$@"
fi
case $what in
all | finality | attestation) ;;
*)
    echo "build.sh: unknown argument '$what'; use finality, attestation, android or nothing" >&2
    exit 2
    ;;
esac
out=$here/build
. "$here/../crates.sh"
need cargo
mkdir -p "$out"

# Flags of a compiler are those of a whole target directory, so the second build has one of its own. Which of
# a CPU's instructions are used is still asked at run time; other CPUs than x86-64 have nothing to ask for.
with_avx512() {
    case $(rustc -vV) in *"host: x86_64"*) ;; *) return ;; esac
    unset CARGO_ENCODED_RUSTFLAGS
    RUSTFLAGS="${RUSTFLAGS:-} --cfg curve25519_dalek_backend=\"avx512\""
    export RUSTFLAGS
    target=$target/avx512
}

case $what in all | finality)
    library paceline-finality-capi paceline_finality_capi paceline_finality
    crate paceline-finality-bench
    put "$target/release/paceline-crypto-finality" paceline-crypto-finality
    ;;
esac
case $what in all | attestation)
    crate paceline-attestation-bench
    put "$target/release/paceline-attestation-bench" paceline-crypto-attestation
    with_avx512
    library paceline-attestation-peers paceline_attestation_peers paceline_attestation_peers
    ;;
esac
