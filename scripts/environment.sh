# Sourced by every script: where the clone is and which executables come first.
#
# Everything the project installs for itself lies inside the clone (`.tools`, `.venv`, `frontend/node_modules`,
# `build`); removing the clone removes it. Only operating-system packages (scripts/toolchains.sh, apt-get) and the
# caches of cargo, Maven, npm and uv lie outside. Those caches and temporary files lie in `build`, too, where the
# home directory cannot be written or the directory for temporary files is small. Sourcing this again changes nothing.
# It installs nothing and prints nothing. Written for bash 3.2, which is what macOS has.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ROOT
case $PATH: in
  "$ROOT/.venv/bin:$ROOT/.tools/bin:"*) ;;
  *) export PATH="$ROOT/.venv/bin:$ROOT/.tools/bin:$PATH" ;;
esac
export PYTHONDONTWRITEBYTECODE=
# Maven and npm draw progress bars and ask questions when they believe a person watches.
export NPM_CONFIG_FUND=false NPM_CONFIG_AUDIT=false NPM_CONFIG_UPDATE_NOTIFIER=false

# A JVM in another character set cannot open files below a path with letters beyond ASCII.
UTF8_LOCALE=$(locale -a 2>/dev/null | grep -iE '^(C|en_US)\.utf-?8$' | head -n 1)
if [ -n "$UTF8_LOCALE" ] && [ "$(locale charmap 2>/dev/null)" != UTF-8 ]; then
  if [ -n "${LC_ALL:-}" ]; then export LC_ALL=$UTF8_LOCALE; else export LC_CTYPE=$UTF8_LOCALE; fi
fi

LOG_DIR=$ROOT/build
mkdir -p "$LOG_DIR"

can_write() { # can_write PLACE: whether it, or the directory it would be made in, can be written
  local place=$1
  while [ ! -e "$place" ] && [ "$place" != / ]; do place=$(dirname "$place"); done
  [ -d "$place" ] && [ -w "$place" ]
}

[ -n "${HOME:-}" ] || export HOME=~ # without the variable, bash asks the system's list of users

# The caches of the package clients, and what an agent keeps, where there is no home or it cannot be written.
use_own_caches() {
  local caches=$LOG_DIR/caches
  can_write "${XDG_CACHE_HOME:-$HOME/.cache}" || export XDG_CACHE_HOME=$caches # of uv, pip and Playwright
  can_write "${XDG_STATE_HOME:-$HOME/.local/state}" || export XDG_STATE_HOME=$caches # of `paceline run`
  can_write "${npm_config_cache:-$HOME/.npm}" || export npm_config_cache=$caches/npm
  if ! can_write "${CARGO_HOME:-$HOME/.cargo}"; then
    mkdir -p "$caches/cargo"
    ln -sf "${CARGO_HOME:-$HOME/.cargo}/config.toml" "$caches/cargo/config.toml" # mirrors and proxies
    export CARGO_HOME=$caches/cargo
  fi
}
[ -w "$HOME" ] || use_own_caches

# Java takes the home from the list of users, whatever HOME says, and mvn splits this variable at every space.
use_own_maven_repository() {
  case "${MAVEN_OPTS:-} $ROOT" in *-Dmaven.repo.local=*) return ;; esac
  [[ $ROOT = *[[:space:]]* ]] ||
    export MAVEN_OPTS="${MAVEN_OPTS:+$MAVEN_OPTS }-Dmaven.repo.local=$LOG_DIR/caches/maven"
}
can_write "$(unset HOME && echo ~)/.m2/repository" || use_own_maven_repository

free_kib() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 {print $4}'; }

TEMPORARY_KIB=524288 # what unpacking Node.js, uv's wheels and linking need at most, doubled
use_own_temporary_files() {
  local there=${TMPDIR:-/tmp} room
  room=$(free_kib "$there")
  [ -w "$there" ] && [ "${room:-0}" -ge "$TEMPORARY_KIB" ] && return
  [ "$(free_kib "$ROOT")" -gt "${room:-0}" ] && mkdir -p "$LOG_DIR/tmp" && export TMPDIR=$LOG_DIR/tmp
}
use_own_temporary_files

# Milliseconds since some fixed moment; whole seconds where bash is older than 5.
now_ms() {
  if [ -n "${EPOCHREALTIME:-}" ]; then
    local t=${EPOCHREALTIME/[.,]/}
    echo "${t%???}"
  else
    echo "${SECONDS}000"
  fi
}

# seconds_since MS → "12.3"
seconds_since() {
  local ms=$(($(now_ms) - $1))
  printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# take_lock [-n]: locks what descriptor 9 has open, with -n only if it is free. macOS has no flock; perl's lock
# lasts as long as the file stays open here. Without either nothing is locked.
take_lock() {
  if command -v flock >/dev/null; then
    flock "$@" 9
  elif command -v perl >/dev/null; then
    perl -e 'open(my $lock, ">&=", 9) && flock($lock, $ARGV[0] ? 6 : 2) or exit 1' "$@"
  fi
}

sha256_of_stdin() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}
