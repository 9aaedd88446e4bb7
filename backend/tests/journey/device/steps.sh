# Says what a workload says; stops in the middle of its second launch until somebody makes $TMPDIR/go. Of the
# benchmark `nothing` no arm can run here.
rounds=20 warmup=5 launch=0 all="step nothing" asked=
while [ "$#" -gt 0 ]; do
  case $1 in
    --benchmark) asked="$asked $2" ;;
    --launch) launch=$2 ;;
    --rounds) rounds=$2 ;;
  esac
  shift
done
printf '{"type":"start","v":1,"suite":"waiting","workload":"steps","launch":%d,"seed":1,' "$launch"
printf '"build":{},"clock":{"name":"c","resolution_ns":20,"overhead_ns":10}}\n'
asked=${asked:-$all}
number=0
for each in $asked; do
  why=
  [ "$each" != nothing ] || why=',"unavailable":"it needs a JVM"'
  for arm in short long; do
    printf '{"type":"case","case":%d,"benchmark":"%s","arm":"%s","params":{},' "$number" "$each" "$arm"
    printf '"metrics":[{"name":"time","unit":"ns","direction":"lower"}]%s}\n' "$why"
    number=$((number + 1))
  done
done
[ "${asked# }" != nothing ] || rounds=0 warmup=0
round=0
while [ "$round" -lt "$((warmup + rounds))" ]; do
  position=0 phase=measure
  [ "$round" -ge "$warmup" ] || phase=warmup
  for case in $((round % 2)) $((1 - round % 2)); do
    printf '{"type":"samples","case":%d,"metric":"time","launch":%d,"round":%d,' "$case" "$launch" "$round"
    printf '"position":%d,"phase":"%s","iterations":1,' "$position" "$phase"
    printf '"values":[%d],"t_ns":5}\n' "$((1000 + 10 * case + round % 3))"
    position=1
  done
  if [ "$launch" -eq 1 ] && [ "$round" -eq 5 ]; then
    until [ -e "$TMPDIR/go" ]; do sleep 0.05; done
  fi
  round=$((round + 1))
done
echo '{"type":"done"}'
