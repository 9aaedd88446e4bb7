# A calibration that takes what somebody wrote into the job's own tmp/pace, in ns; 1 ms before that.
tmp=${0%/*}/../tmp
pace=1000000
[ ! -e "$tmp/pace" ] || pace=$(cat "$tmp/pace")
printf '{"calibration_ns":%d}\n' "$pace"
