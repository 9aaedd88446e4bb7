# launch.sh DIRECTORY WORKING_DIRECTORY LIMIT_S LAYOUT_BYTES PROGRAM COMMAND… — one launch, in a session of its own.
#
# Pushed with a run and started by start.sh; it has no connection. It writes into DIRECTORY:
#   begun/ (the launch is taken)  began (when, in seconds since boot)  watcher (this shell's pid)
#   pid (the workload's, leader of a group)  out, err (its output)  late (it exceeded LIMIT_S)
#   end (its status; `missing`: no such PROGRAM; `nowhere`: no such WORKING_DIRECTORY)
# It runs COMMAND at most once, writes `end` last and whole, and keeps to the limit without an agent. The padding
# (paceline/layout.py) is made here, because an old device takes no command as long as that.
# Needs: mkdir mv setsid sh sleep
d=$1 cwd=$2 limit=$3 layout=$4 program=$5
shift 5
mkdir "$d/begun" || exit 0
if read -r now rest </proc/uptime; then echo "$now" >"$d/began"; fi 2>/dev/null
echo $$ >"$d/watcher.new"
mv "$d/watcher.new" "$d/watcher"
ended() {
  echo "$1" >"$d/end.new"
  mv "$d/end.new" "$d/end"
  exit 0
}
cd "$cwd" || ended nowhere
command -v "$program" >/dev/null || ended missing
PACELINE_LAYOUT=
while [ "$layout" -gt 0 ]; do
  PACELINE_LAYOUT=$PACELINE_LAYOUT................
  layout=$((layout - 16))
done
export PACELINE_LAYOUT
setsid "$@" </dev/null >>"$d/out" 2>>"$d/err" &
child=$!
echo "$child" >"$d/pid.new"
mv "$d/pid.new" "$d/pid"
setsid sh -c 'sleep "$1" && { true >"$2/late"; kill -s KILL -- "-$3" || kill -s KILL "$3"; }' limiter "$limit" "$d" "$child" &
limiter=$!
wait "$child"
status=$?
kill -s KILL -- "-$limiter" || kill -s KILL "$limiter" # the latter, here and above: not yet a group of its own
wait "$limiter"
ended "$status"
