# Sourced by every script: where the clone is and which executables come first.
#
# Invariant: everything the project installs for itself lies inside the clone (`.tools`, `.venv`,
# `frontend/node_modules`, `build`); removing the clone removes it. Only operating-system packages
# (scripts/toolchains.sh, apt-get) and the caches of cargo, Maven, npm and uv lie outside.
# It installs nothing and prints nothing. Written for bash 3.2, which is what macOS has.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ROOT
export PATH="$ROOT/.venv/bin:$ROOT/.tools/bin:$PATH"
export PYTHONDONTWRITEBYTECODE=
# Maven and npm draw progress bars and ask questions when they believe a person watches.
export NPM_CONFIG_FUND=false NPM_CONFIG_AUDIT=false NPM_CONFIG_UPDATE_NOTIFIER=false

LOG_DIR=$ROOT/build
mkdir -p "$LOG_DIR"

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

sha256_of_stdin() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}
