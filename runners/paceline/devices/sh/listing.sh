# listing.sh DIRECTORY — every file below it: `SIZE MODE ./NAME` lines, an empty line, `SHA256  ./NAME`.
#
# devices/placing.py compares it with what was built. Without the directory it prints nothing.
# Needs: find sha256sum stat
cd "$1" 2>/dev/null || exit 0
find . -type f -exec stat -c '%s %a %n' {} +
echo
find . -type f -exec sha256sum {} +
