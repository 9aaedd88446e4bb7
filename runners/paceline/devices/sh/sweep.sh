# sweep.sh RUN DIRECTORY LAUNCH — kills every process of a run; prints how many, and `left` when some stay.
#
# Place in the journey: after each launch, and wherever a run is cleaned away. A process is the run's when its
# environment says so, or when its program or working directory lies below DIRECTORY: what a workload started
# and let go of is found by one or the other. The watcher of LAUNCH is killed, too, but not counted.
# Invariant: looks again after each round, until a look finds nothing.
# Needs: grep ls printf sort
run=$1 dir=$2 spared=
[ -z "$3" ] || read -r spared <"$3/watcher"
found() {
  for file in $(grep -lszxF "PACELINE_RUN=$run" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    echo "${file%/environ}"
  done
  ls -l /proc/[0-9]*/exe /proc/[0-9]*/cwd 2>/dev/null | while read -r line; do
    case $line in
      *" /proc/"[0-9]*" -> $dir" | *" /proc/"[0-9]*" -> $dir/"*)
        line=${line#* /proc/}
        echo "${line%%/*}"
        ;;
    esac
  done
}
count=0 rounds=0
while :; do
  pids=$(found)
  [ -n "$pids" ] || break
  [ "$rounds" -lt 50 ] || { echo left; break; }
  rounds=$((rounds + 1))
  for pid in $(printf '%s\n' $pids | sort -un); do
    kill -s KILL "$pid" 2>/dev/null
    if [ "$pid" != "$spared" ]; then
      case " $seen " in *" $pid "*) ;; *) seen="$seen $pid" count=$((count + 1)) ;; esac
    fi
  done
done
echo "$count"
