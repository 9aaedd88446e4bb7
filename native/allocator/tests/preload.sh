#!/bin/sh
# Real programs with the library preloaded say what they say without it.
#
#   preload.sh LIBRARY    prints a line per program and "N passed, N failed, N skipped"; exit 1 on a failure
#
# Each program runs in default and in hardened mode. A program that is not installed is skipped, by name.
set -u
library=$1
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
git init -q "$work/repo" 2>/dev/null && for i in 1 2 3 4 5 6 7 8; do
    seq $((i * 100)) >"$work/repo/file$i" && git -C "$work/repo" add -A &&
        git -C "$work/repo" -c user.name=n -c user.email=e@example.invalid commit -qm "step $i"
done

run python3 env PYTHONMALLOC=malloc python3 "$work/program.py"
run python3-own-arenas python3 "$work/program.py"
run sqlite3 sqlite3 :memory: "with recursive n(i) as (select 1 union all select i+1 from n where i<60000)
  select count(*), sum(length(hex(i*i))) from n; select group_concat(x) from (select i%17 x from
  (with recursive n(i) as (select 1 union all select i+1 from n where i<500) select i from n) order by 1);"
run gcc sh -c "gcc -O2 -c -o $work/o.o $work/program.c && objdump -d $work/o.o | md5sum"
run git-log sh -c "git -C $work/repo log -p --stat | md5sum && git -C $work/repo fsck --strict"
run git-repack sh -c "git -C $work/repo repack -adfq --depth=50 &&
  git -C $work/repo rev-list --all --objects | md5sum"
run perl perl -e 'my %h; $h{$_ % 977} .= "x$_" for 1..60000;
  print length(join "", map { $h{$_} } sort keys %h), "\n"'
run sort sh -c "seq 60000 | sort -R --random-source=/dev/zero | sort -n --parallel=2 | md5sum"
run bash bash -c 'declare -A a; for i in {1..4000}; do a[$i]=$((i*i)); done
  echo ${#a[@]} ${a[77]}; ls / | wc -l'

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
