#!/bin/sh
# Runs real programs with the library preloaded and compares their output with and without it.
#
#   preload.sh LIBRARY    prints a line per program and "N passed, N failed, N skipped"; exit 1 on a failure
#
# Each program runs in default and in hardened mode. A program that is not installed is skipped, by name.
set -u
# Made absolute: a program that changes its folder would not find a relative path and run without the library.
library=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
[ -f "$library" ] || {
    echo "preload.sh: no library at $library; run native/allocator/build.sh" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

run() { # run NAME COMMAND…: the same output and exit code with and without
    name=$1
    shift
    if ! command -v "$1" >/dev/null; then
        echo "skip $name: no $1 here"
        skipped=$((skipped + 1))
        return
    fi
    "$@" >"$work/plain" 2>&1
    plain=$?
    for hardened in 0 1; do
        env LD_PRELOAD="$library" PACELINE_ALLOC_HARDENED=$hardened "$@" >"$work/ours" 2>&1
        ours=$?
        if [ $plain -eq $ours ] && cmp -s "$work/plain" "$work/ours"; then
            echo "ok   $name (hardened=$hardened)"
            passed=$((passed + 1))
        else
            echo "FAIL $name (hardened=$hardened): exit $plain and $ours"
            diff "$work/plain" "$work/ours" | head -5
            failed=$((failed + 1))
        fi
    done
}

cat >"$work/program.py" <<'PY'
import hashlib, json, re, sqlite3, threading
words = [hashlib.md5(str(i).encode()).hexdigest() for i in range(20000)]
print(hashlib.md5(json.dumps(sorted(words)).encode()).hexdigest())
base = sqlite3.connect(":memory:")
base.execute("create table t (a, b)")
base.executemany("insert into t values (?, ?)", ((i, w * 3) for i, w in enumerate(words)))
print(base.execute("select count(*), max(b) from t where b like '%ab%'").fetchall())
out = []
def work(n):
    out.append(sum(len(re.sub("[0-9]+", "x" * n, w)) for w in words[:4000]))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(out))
PY
cat >"$work/program.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
struct node { struct node *next; char text[40]; };
int main(void) {
    struct node *list = NULL;
    for (int i = 0; i < 100; i++) { struct node *n = malloc(sizeof *n); n->next = list;
        snprintf(n->text, sizeof n->text, "%g", sqrt(i)); list = n; }
    for (; list; list = list->next) puts(list->text);
    return 0;
}
C
cat >"$work/suite.sh" <<'SH'
# python3's own tests of what allocates most; the lines with times are left out
python3 -c 'import test.test_dict, test.support' 2>/dev/null || { echo "no test package"; exit 0; }
python3 -m test test_dict test_list test_bytes test_json test_re test_set test_deque \
    test_itertools test_gc test_weakref test_thread 2>&1 |
    grep -E '^(Result|Tests result|Total tests|All [0-9])'
SH
cat >"$work/redis.sh" <<'SH'
# a server, its benchmark and a digest of what is stored then
rm -f "$1/socket"
redis-server --port 0 --unixsocket "$1/socket" --dir "$1" --save '' --enable-debug-command yes >"$1/log" &
server=$!
until redis-cli -s "$1/socket" ping 2>/dev/null | grep -q PONG; do
    kill -0 $server || exit 1
done
redis-benchmark -s "$1/socket" -q -n 4000 -c 20 -d 300 >"$1/speeds" || echo "benchmark: $?"
tr '\r' '\n' <"$1/speeds" | grep -c 'requests per second'
for i in $(seq 60); do
    redis-cli -s "$1/socket" eval "for j = 1, 50 do redis.call('hset', 'h' .. j % 7, ARGV[1] .. j,
      string.rep('x', j * 20)) redis.call('sadd', 's', ARGV[1] * j) end
      return #redis.call('keys', '*')" 0 "$i"
done
redis-cli -s "$1/socket" debug digest
redis-cli -s "$1/socket" shutdown nosave
wait $server
SH
git init -q "$work/repo" 2>/dev/null && for i in 1 2 3 4 5 6 7 8; do
    seq $((i * 100)) >"$work/repo/file$i" && git -C "$work/repo" add -A &&
        git -C "$work/repo" -c user.name=n -c user.email=e@example.invalid commit -qm "step $i"
done

run python3 env PYTHONMALLOC=malloc python3 "$work/program.py"
run python3-own-arenas python3 "$work/program.py"
run sqlite3 sqlite3 :memory: "with recursive n(i) as (select 1 union all select i+1 from n where i<60000)
  select count(*), sum(length(hex(i*i))) from n; select group_concat(x) from (select i%17 x from
  (with recursive n(i) as (select 1 union all select i+1 from n where i<500) select i from n) order by 1);"
run sqlite3-file sh -c "rm -f $work/base && sqlite3 $work/base 'create table t (a primary key, b);
  with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
  insert into t select hex(i*i), i from n; delete from t where b % 3 = 0; vacuum; pragma integrity_check;
  select count(*), max(a) from t' && md5sum <$work/base"
run git-gc sh -c "rm -rf $work/copy && git clone -q --no-local --bare $work/repo $work/copy &&
  git -C $work/copy gc -q && git -C $work/copy fsck --strict && git -C $work/copy show-ref | md5sum"
run gcc sh -c "gcc -O2 -c -o $work/o.o $work/program.c && objdump -d $work/o.o | md5sum"
run git-log sh -c "git -C $work/repo log -p --stat | md5sum && git -C $work/repo fsck --strict"
run git-repack sh -c "git -C $work/repo repack -adfq --depth=50 &&
  git -C $work/repo rev-list --all --objects | md5sum"
run perl perl -e 'my %h; $h{$_ % 977} .= "x$_" for 1..60000;
  print length(join "", map { $h{$_} } sort keys %h), "\n"'
run sort sh -c "seq 60000 | sort -R --random-source=/dev/zero | sort -n --parallel=2 | md5sum"
if command -v redis-server >/dev/null; then
    run redis sh "$work/redis.sh" "$work"
else
    run redis redis-server
fi
run python3-tests env PYTHONMALLOC=malloc sh "$work/suite.sh"
run bash bash -c 'declare -A a; for i in {1..4000}; do a[$i]=$((i*i)); done
  echo ${#a[@]} ${a[77]}; ls / | wc -l'

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
