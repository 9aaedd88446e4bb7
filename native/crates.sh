# What the scripts of the suites share: building a crate, and putting a file where the suite runs it. Sourced
# after `set -eu`, with `here` (the suite's folder) and, for `put`, `out` (where programs go).
#
# It leaves cargo's target directory in `target`. Honours CARGO_TARGET_DIR.
target=${CARGO_TARGET_DIR:-$here/../target}

fail() { # fail STATUS TEXT
    echo "${0##*/}: $2" >&2
    exit "$1"
}

need() { # need COMMAND…
    for command; do
        command -v "$command" >/dev/null ||
            fail 1 "'$command' is not installed; 'make setup' at the root of the repository installs it"
    done
}

put() { # put FILE NAME: replace, never overwrite; a running process may have the old file mapped
    cp "$1" "$out/$2.new"
    mv -f "$out/$2.new" "$out/$2"
}

with_std() { # with_std TRIPLE: stops unless rustc can build for it
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] ||
        fail 1 "rustc has no standard library for $1; run: rustup target add $1"
}

crate() { # crate PACKAGE [OPTION…]: from native/, whose lock file and target directory all crates share
    (cd "$here/.." && cargo build --quiet --release --locked --target-dir "$target" -p "$@")
} 9>&-

library() { # library PACKAGE BUILT NAME: whatever this platform calls a shared library becomes libNAME.so
    crate "$1"
    for built in "lib$2.so" "lib$2.dylib" "$2.dll"; do
        [ ! -f "$target/release/$built" ] || put "$target/release/$built" "lib$3.so"
    done
}
