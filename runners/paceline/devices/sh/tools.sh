# tools.sh TOOL… — prints the name of each TOOL that this device does not have.
#
# The health check (devices/check.py) runs it, so that no job fails halfway because a tool is missing.
for tool; do
  command -v "$tool" >/dev/null || echo "$tool"
done
