# listing.sh DIRECTORY — every file below it: `SIZE MODE ./NAME` lines, an empty line, `SHA256  ./NAME`.
#
# Place in the journey: what devices/placing.py compares with what was built. Prints nothing for no directory.
# Needs: find sha256sum stat
cd "$1" 2>/dev/null || exit 0
find . -type f -exec stat -c '%s %a %n' {} +
echo
find . -type f -exec sha256sum {} +
