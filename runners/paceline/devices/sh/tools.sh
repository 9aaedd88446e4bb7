# tools.sh TOOL… — prints the name of each TOOL that this device does not have.
#
# Asked by the health check (devices/check.py), so that no job fails halfway for want of one.
for tool; do
  command -v "$tool" >/dev/null || echo "$tool"
done
