# follow.sh DIRECTORY OUT_OFFSET ERR_OFFSET PAUSE_S — what a launch says from these offsets on.
#
# Place in the journey: streamed by executors/detached.py, and again after a lost connection. Prints
#   out OFFSET LENGTH⏎bytes   err OFFSET LENGTH⏎bytes   beat⏎ (it runs)   late⏎   end STATUS⏎   gone⏎
# Invariants: a length says how many bytes follow, so nothing a workload prints is taken for a line of this
# script; `end` comes after the last byte; two small processes per round. `dd` reads, because toybox's
# `head -c` takes more from a shared descriptor than it prints.
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
while :; do
  end=
  if [ -e "$d/end" ]; then
    read -r end <"$d/end"
  elif ! { read -r watcher <"$d/watcher" && [ -e "/proc/$watcher/exe" ]; }; then # a zombie has no exe
    end=gone
    [ -e "$d/end" ] && continue
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
  if [ -n "$more" ]; then continue; fi
  case $end in
    '')
      echo beat
      sleep "$pause"
      ;;
    *)
      if [ -e "$d/late" ]; then echo late; fi
      if [ "$end" = gone ]; then echo gone; else echo "end $end"; fi
      exit 0
      ;;
  esac
done
