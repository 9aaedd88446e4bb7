# follow.sh DIRECTORY OUT_OFFSET ERR_OFFSET PAUSE_S — prints a launch's output from these offsets on.
#
# executors/detached.py streams it, and starts it again after a lost connection. It prints
#   out OFFSET LENGTH⏎bytes   err OFFSET LENGTH⏎bytes   late⏎   end STATUS⏎
#   beat BEGAN NOW⏎ (it runs; seconds since boot, or ? ?)   over⏎ (it ended, its end is not written yet)
#   gone⏎ (it has no end, and its watcher is gone)
# LENGTH counts the bytes that follow, so that output of a workload is never taken for a line of this script.
# Every round prints a state, however much output there is, and starts two small processes; `end` comes after
# the last byte. `dd` reads, because toybox's `head -c` takes more from a shared descriptor than it prints.
# Needs: dd sleep stat
exec 2>/dev/null
d=$1 out=$2 err=$3 pause=$4
most=262144
exec 3<"$d/out" 4<"$d/err"
block=65536
skip() {
  [ "$1" -lt "$block" ] || dd bs="$block" count=$(($1 / block))
  [ $(($1 % block)) -eq 0 ] || dd bs=$(($1 % block)) count=1
}
skip "$out" <&3 >/dev/null
skip "$err" <&4 >/dev/null
began=
[ ! -e "$d/began" ] || read -r began rest <"$d/began"
runs() { read -r of <"$d/$1" && [ -e "/proc/$of/exe" ]; } # a zombie has no exe
while :; do
  end= state=over
  if [ -e "$d/end" ]; then
    read -r end <"$d/end"
    end=${end:-empty}
  elif ! runs watcher; then
    end=gone
    [ -e "$d/end" ] && continue
  elif [ ! -e "$d/pid" ] || runs pid; then
    state=beat
  fi
  set -- $(stat -c %s "$d/out" "$d/err")
  more=
  n=$(($1 - out))
  if [ "$n" -gt "$most" ]; then n=$most more=yes; fi
  if [ "$n" -gt 0 ]; then
    echo "out $out $n"
    dd bs="$n" count=1 <&3
    out=$((out + n))
  fi
  n=$(($2 - err))
  if [ "$n" -gt "$most" ]; then n=$most more=yes; fi
  if [ "$n" -gt 0 ]; then
    echo "err $err $n"
    dd bs="$n" count=1 <&4
    err=$((err + n))
  fi
  if [ -z "$end" ]; then
    if [ "$state" = beat ]; then
      now=
      read -r now rest </proc/uptime
      state="beat ${began:-?} ${now:-?}"
    fi
    echo "$state"
    [ -n "$more" ] || sleep "$pause"
  elif [ -z "$more" ]; then
    if [ -e "$d/late" ]; then echo late; fi
    if [ "$end" = gone ]; then echo gone; else echo "end $end"; fi
    exit 0
  fi
done
