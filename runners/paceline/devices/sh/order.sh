# order.sh DIRECTORY SIGNAL — passes a signal to a launch's workload and all of its process group.
#
# executors/detached.py runs it when a launch must end. It sends nothing once the watcher has written `end`, so
# that it does not hit another process with the same pid.
d=$1
if [ ! -e "$d/end" ] && read -r pid <"$d/pid"; then
  kill -s "$2" -- "-$pid" 2>/dev/null || kill -s "$2" "$pid" 2>/dev/null # the latter: no group of its own yet
fi
exit 0
