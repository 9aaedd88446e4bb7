# start.sh DIRECTORY SCRIPT RUN ARGUMENT… — starts one launch so that it outlives this connection.
#
# Place in the journey: the first command of a launch (executors/detached.py). Invariants: may be sent again
# after a lost connection: launch.sh begins once only; makes no parent directory, so that a late one starts
# nothing in a run that was cleaned away. Status 0: it began, now or before; 3: it cannot be written.
# Needs: mkdir setsid sh sleep
d=$1 script=$2 run=$3
shift 3
mkdir "$d" 2>/dev/null
true >>"$d/out" && true >>"$d/err" || exit 3
if [ ! -e "$d/begun" ]; then
  PACELINE_RUN=$run
  export PACELINE_RUN
  setsid sh "$script" "$d" "$@" </dev/null >/dev/null 2>&1 &
fi
n=0
until [ -e "$d/pid" ] || [ -e "$d/end" ]; do
  [ "$n" -lt 200 ] || exit 4
  n=$((n + 1))
  sleep 0.05
done
