#!/bin/sh
# Runs what crosses borders under AddressSanitizer: the misuse tests of both JVM libraries (wrong sizes,
# detached buffers, collections during calls, concurrent use, exceptions both ways, closing in the air), and a
# whole launch of `piece`. Rust and the C of QuickJS are instrumented; every allocation of the process, the
# JVM's included, is checked.
#
# Not here: kernels (core/asan.sh); leaks (PieceProcessTest: the JVM itself leaks by the tool's reckoning);
# soaks, whose memory the tool's own quarantine grows.
#
# The sanitizers are not stable in rustc; RUSTC_BOOTSTRAP lets the pinned stable compiler use them for tests.
# Honours CARGO_TARGET_DIR (a folder of its own is made in it) and MAVEN_ARGS.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
host=$(rustc -vV | sed -n 's/^host: //p')
runtime=$(cc -print-file-name=libasan.so)
java=$(command -v java)
case $host in
x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) ;;
*)
    echo "asan.sh: rustc has no sanitizer for $host; run it on Linux (x86-64 or AArch64)" >&2
    exit 1
    ;;
esac
[ -f "$runtime" ] || {
    echo "asan.sh: the C compiler has no libasan.so; install gcc's sanitizer library (libasan)" >&2
    exit 1
}
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$target/sanitizer-jvm"
target=$(CDPATH='' cd -- "$target/sanitizer-jvm" && pwd)

# Its own target folder and --target: build scripts and proc macros must not be built with the sanitizer. Of
# debug information a report needs lines alone.
(
    cd "$here/.."
    CFLAGS='-fsanitize=address -fno-omit-frame-pointer' \
        RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Zsanitizer=address' CARGO_PROFILE_DEV_DEBUG=line-tables-only \
        cargo build --quiet --locked --target "$host" --target-dir "$target" \
        -p paceline-hashing-quickjs-jni -p paceline-hashing-jni
)

# A `java` whose process, and whose children, have the sanitizer's runtime. The JVM handles its own signals.
mkdir -p "$target/bin"
cat >"$target/bin/java" <<EOF
#!/bin/sh
export LD_PRELOAD='$runtime'
export ASAN_OPTIONS='detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:abort_on_error=0:exitcode=99'
exec '$java' "\$@"
EOF
chmod +x "$target/bin/java"

# Compiling Kotlin takes longer than all of these tests, and `mvn verify` has done it. A module's classes are
# current when no source of it is newer than a class of its tests, which are compiled last, all of them.
cd "$here/jvm"
current() {
    for module in harness ledger-hasher workloads; do
        class=$(find "$module/target/test-classes" -name '*.class' 2>/dev/null | head -n 1)
        [ -n "$class" ] || return 1
        newer=$(find pom.xml "$module" -name target -prune -o -type f -newer "$class" -print)
        [ -z "$newer" ] || return 1
    done
}
compile=
if current; then
    compile='-Dkotlin.main=none -Dkotlin.test=none'
fi
tests='NativeDigestsTest,PieceMisuseTest,PieceFailureTest,PieceAsyncTest,PieceProcessTest#a launch*'
# shellcheck disable=SC2086 # both are lists of words
mvn -B -q -Dstyle.color=never ${MAVEN_ARGS:-} test $compile -Djvm="$target/bin/java" \
    -Dhashing.build="$target/$host/debug" -Dtest="$tests" -Dsurefire.failIfNoSpecifiedTests=false
