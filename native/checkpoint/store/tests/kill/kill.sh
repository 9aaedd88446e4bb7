#!/bin/sh
# Kills a writer 500 times (or KILLS times) on filesystems of its own: ext4, btrfs and xfs on loop devices.
#
#   kill.sh [ext4] [btrfs] [xfs]
#   CUT=1 kill.sh ext4 xfs          the power goes, too: the filesystem is shut down and mounted again
#
# Needs root, mkfs of each, and some 400 MB below TMPDIR. Always unmounts and detaches what it made. Exit 0
# when every kill on every filesystem left what was reported, 1 when one did not, 2 when it could not begin.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
kills=${KILLS:-500}
[ "$(id -u)" = 0 ] || { echo "kill.sh: making loop devices needs root" >&2; exit 2; }
[ $# -gt 0 ] || if [ -n "${CUT:-}" ]; then set -- ext4 xfs; else set -- ext4 btrfs xfs; fi
for name in "$@"; do
    if [ "$name${CUT:-}" != "$name" ] && [ "$name" = btrfs ]; then
        echo "kill.sh: btrfs cannot be shut down under its writer; CUT=1 is for ext4 and xfs" >&2
        exit 2
    fi
    command -v "mkfs.$name" >/dev/null || { echo "kill.sh: no mkfs.$name here" >&2; exit 2; }
done
built=$(cd "$here" && cargo test --quiet --locked -p paceline-checkpoint --test kill --no-run \
    --message-format json | sed -n 's/.*"name":"kill".*"executable":"\([^"]*\)".*/\1/p')
[ -x "$built" ] || { echo "kill.sh: cargo built no test" >&2; exit 2; }

work=$(mktemp -d)
cp "$built" "$work/kill" # what is tried stays the same while somebody works on it
device=
end() {
    trap - EXIT INT TERM HUP
    if mountpoint -q "$work/mnt"; then umount "$work/mnt"; fi
    if [ -n "$device" ]; then losetup -d "$device"; fi
    rm -rf "$work"
}
trap end EXIT
trap 'end; exit 130' INT TERM HUP
mkdir "$work/mnt"

failed=0
for name in "$@"; do
    truncate -s 320M "$work/image"
    device=$(losetup --find --show "$work/image")
    case $name in
    ext4) mkfs.ext4 -q "$device" ;;
    btrfs) mkfs.btrfs -q -f "$device" >/dev/null ;;
    xfs) mkfs.xfs -q -f "$device" ;;
    *) echo "kill.sh: $name is none of ext4, btrfs, xfs" >&2; exit 2 ;;
    esac
    mount "$device" "$work/mnt"
    if [ -n "${CUT:-}" ]; then
        # What was not synced is lost, as xfs_io's "shutdown" without a flush of the journal does it.
        printf '%s\n' '#!/bin/sh' 'case $1 in' "off) exec xfs_io -x -c shutdown '$work/mnt' ;;" \
            "on) umount '$work/mnt' && mount '$device' '$work/mnt' ;;" esac >"$work/cut"
        chmod +x "$work/cut"
        export CHECKPOINT_KILL_CUT="$work/cut"
    fi
    printf '%s: ' "$name"
    CHECKPOINT_KILLS=$kills CHECKPOINT_KILL_DIR=$work/mnt "$work/kill" --nocapture || failed=1
    umount "$work/mnt"
    losetup -d "$device"
    device=
    rm "$work/image"
done
exit $failed
