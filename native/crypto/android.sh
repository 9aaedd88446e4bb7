#!/bin/sh
# Builds what a workload of this suite runs on an Android device; `build.sh android …` calls it.
#
#   android.sh attestation ABI    build/ABI/paceline-crypto-attestation: a static program without AWS-LC and
#                                 ring, which are C; ABI being arm64-v8a or x86_64
#   android.sh finality ABI       build/ABI/paceline-crypto-finality: a static program, which loads no library
#
# With each comes the calibrator. Honours CARGO_TARGET_DIR.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:-}
abi=${2:-}
. "$here/../android.sh"

case $what in
attestation) program paceline-attestation-bench paceline-crypto-attestation paceline-attestation-bench ;;
finality) program paceline-finality-bench paceline-crypto-finality ;;
*) fail 2 "unknown workload '$what'; use attestation or finality" ;;
esac
calibrator
