# Says what a workload says; stops in the middle of its second launch until somebody makes $TMPDIR/go.
rounds=20 launch=0
while [ "$#" -gt 0 ]; do
  case $1 in
    --launch) launch=$2 ;;
    --rounds) rounds=$2 ;;
  esac
  shift
done
printf '{"type":"start","v":1,"suite":"waiting","workload":"steps","launch":%d,"seed":1,' "$launch"
printf '"build":{},"clock":{"name":"c","resolution_ns":20,"overhead_ns":10}}\n'
case=0
for arm in short long; do
  printf '{"type":"case","case":%d,"benchmark":"step","arm":"%s","params":{},' "$case" "$arm"
  printf '"metrics":[{"name":"time","unit":"ns","direction":"lower"}]}\n'
  case=1
done
round=0
while [ "$round" -lt "$rounds" ]; do
  position=0
  for case in $((round % 2)) $((1 - round % 2)); do
    printf '{"type":"samples","case":%d,"metric":"time","launch":%d,"round":%d,' "$case" "$launch" "$round"
    printf '"position":%d,"phase":"measure","iterations":1,' "$position"
    printf '"values":[%d],"t_ns":5}\n' "$((1000 + 10 * case + round % 3))"
    position=1
  done
  if [ "$launch" -eq 1 ] && [ "$round" -eq 5 ]; then
    until [ -e "$TMPDIR/go" ]; do sleep 0.05; done
  fi
  round=$((round + 1))
done
echo '{"type":"done"}'
