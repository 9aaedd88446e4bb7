# sweep.sh RUN DIRECTORY LAUNCH — kills every process of a run; prints how many, and `left` when some stay.
#
# It runs after each launch and wherever a run is cleaned away. A process belongs to the run if its environment
# names the run, or if its program or working directory lies below DIRECTORY; so detached processes are found,
# too. The watcher of LAUNCH is killed but not counted. Searches are repeated until one finds nothing.
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
