# Sourced by scripts/setup: why a step failed, in one sentence, read from its output and from the machine.
#
# Each client of a package registry reports its errors in its own words ("os error 28"). A person can remove one of a
# few causes: a full disk, a wrong clock, a network
# that does not answer, a download that was cut or changed, a place that may not be written.

FULL_BELOW_KIB=1024 # a client that fails on a full disk leaves less than this, or says so itself
EARLIEST_CLOCK=1735689600 # 2025-01-01: nothing this set-up downloads is older, so no right clock is

# The directories a step writes to, one a line.
places_written() {
  printf '%s\n' "$ROOT" "${TMPDIR:-/tmp}" "${XDG_CACHE_HOME:-$HOME/.cache}" "${UV_CACHE_DIR:-$HOME}" \
    "${npm_config_cache:-$HOME/.npm}" "${CARGO_HOME:-$HOME/.cargo}" /var/cache/apt/archives /usr
}

# Prints a line for each filesystem behind them: free KiB, free inodes (- if it has no such number), place.
room_left() {
  local place inodes
  places_written | while IFS= read -r place; do
    while [ ! -e "$place" ] && [ "$place" != / ]; do place=$(dirname "$place"); done
    inodes=$(df -Pi "$place" 2>/dev/null | awk 'NR == 2 && $2 > 0 {print $4}')
    df -Pk "$place" 2>/dev/null | awk -v inodes="${inodes:--}" 'NR == 2 {
      where = $6; for (i = 7; i <= NF; i++) where = where " " $i
      print $4, inodes, where " (" $1 ")"
    }'
  done | sort -u -n
}

# first_match TEXT PATTERN: prints the first line of TEXT that matches, without colours, shortened. Fails without one.
first_match() {
  printf '%s\n' "$1" | tr -d '\r\033' | grep -aiE "$2" | head -n 1 |
    sed -e 's/\[[0-9;]*m//g' -e 's/^[[:space:]]*//' | cut -c 1-200 | grep .
}

full_disk() { # full_disk TEXT: names the filesystem with the least room, when one is full
  local fullest free inodes where
  fullest=$(room_left | awk -v below="$FULL_BELOW_KIB" 'NR == 1 {line = $0; if ($1 < below) exit}
    $2 == 0 {line = $0; exit} END {print line}')
  free=${fullest%% *}
  where=${fullest#* }
  inodes=${where%% *}
  where=${where#* }
  if [ "$inodes" = 0 ]; then
    echo "The disk is full: no inode is free on $where."
  elif [ "$free" -lt "$FULL_BELOW_KIB" ] ||
    first_match "$1" 'no space left on device|ENOSPC|os error 28|enough free space|disk quota' >/dev/null; then
    echo "The disk is full: $((free / 1024)) MiB are free now on $where."
  else
    return 1
  fi
}

wrong_clock() {
  [ "$(date +%s)" -lt "$EARLIEST_CLOCK" ] ||
    first_match "$1" 'not yet valid|not valid yet|NOT_YET_VALID|certificate has expired|HAS_EXPIRED' >/dev/null ||
    return 1
  echo "This machine's clock says $(LC_ALL=C date '+%Y-%m-%d %H:%M'), a time at which servers' certificates" \
    "are not valid: set the clock."
}

UNTRUSTED='CERTIFICATE_VERIFY_FAILED|UnknownIssuer|self.signed certificate|unable to get (local )?issuer'
CHANGED='hash mismatch|do not match the hashes|EINTEGRITY|wrong SHA-256|failed to verify the checksum'
NAMELESS='name resolution|could not resolve|name or service not known|ENOTFOUND|EAI_AGAIN|dns error'
NAMELESS="$NAMELESS|failed to lookup address"
CUT='incompleteread|connection broken|connection reset|ECONNRESET|closed before message|socket hang up'
CUT="$CUT|unexpected (eof|end of file)|end of file before|error decoding response body|transfer closed"
CUT="$CUT|response ended prematurely|invalid response body|connection aborted|remote end closed|was cut"
CUT="$CUT|error reading a body|SSL_read|content-length|JSONDecodeError" # pip, of a page that was cut
AWAY='connection refused|ECONNREFUSED|timed out|ETIMEDOUT|network is unreachable|no route to host|tunnel'
AWAY="$AWAY|proxyerror|error sending request|unable to connect|could not connect|failed to fetch"
FORBIDDEN='read-only file system|EROFS|permission denied|EACCES'

# cause_of TEXT: prints one sentence about the cause in a step's output, or nothing
cause_of() {
  local matched
  full_disk "$1" && return
  wrong_clock "$1" && return
  if matched=$(first_match "$1" "$UNTRUSTED"); then
    echo "A server's certificate was not accepted ($matched). Behind a proxy with certificates of its own, name" \
      "its authority in SSL_CERT_FILE, PIP_CERT, NODE_EXTRA_CA_CERTS and CARGO_HTTP_CAINFO."
  elif matched=$(first_match "$1" "$CHANGED"); then
    echo "A download is not the file that was pinned ($matched)."
  elif matched=$(first_match "$1" "$NAMELESS"); then
    echo "A server's name cannot be resolved ($matched): check the network and any proxy settings."
  elif matched=$(first_match "$1" "$CUT"); then
    echo "A download was cut short, each time it was tried ($matched): check the network and any proxy."
  elif matched=$(first_match "$1" "$AWAY"); then
    echo "A server cannot be reached ($matched): check the network and any index or proxy settings."
  elif matched=$(first_match "$1" "$FORBIDDEN"); then
    echo "A place may not be written ($matched)."
  fi
}
