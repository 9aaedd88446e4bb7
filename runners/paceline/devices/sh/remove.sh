# remove.sh DIRECTORY — removes it with all that is in it; status 0 when it is gone.
#
# It is the last step of cleaning up. A workload may have left files without write permission.
# Needs: chmod rm
chmod -R u+rwx "$1" 2>/dev/null
rm -rf "$1"
[ ! -e "$1" ]
