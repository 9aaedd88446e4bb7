# start.sh DIRECTORY SCRIPT RUN ARGUMENT… — starts one launch so that it outlives this connection.
#
# The first command of a launch (executors/detached.py). It may be sent again after a lost connection, because
# launch.sh begins only once. It makes no parent directory, so that a late one starts nothing in a run that was
# cleaned away. Status 0: the launch has begun, now or before; 3: DIRECTORY cannot be written; 4: it has not begun.
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
