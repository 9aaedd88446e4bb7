# order.sh DIRECTORY SIGNAL — passes a signal to a launch's workload and all of its process group.
#
# Place in the journey: executors/detached.py, when a launch must end. Invariant: only while its watcher has
# not seen it end, so that no pid that was given to another process is hit.
d=$1
if [ ! -e "$d/end" ] && read -r pid <"$d/pid"; then
  kill -s "$2" -- "-$pid" 2>/dev/null || kill -s "$2" "$pid" 2>/dev/null # the latter: no group of its own yet
fi
exit 0
