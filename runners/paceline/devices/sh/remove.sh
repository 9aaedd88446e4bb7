# remove.sh DIRECTORY — removes it with all that is in it; status 0 when it is gone.
#
# Place in the journey: the last step of cleaning away. A workload may have left files nobody may write to.
# Needs: chmod rm
chmod -R u+rwx "$1" 2>/dev/null
rm -rf "$1"
[ ! -e "$1" ]
