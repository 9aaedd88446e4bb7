#!/bin/sh
# Makes the traces of captured/ anew: what small runs of five programs ask their allocator for, and patterns.
#
#   record.sh LIBRARY    LIBRARY: build/bench/lib/libpaceline_trace.so
#
# The first 50,000 events of each, and the patterns that patterns.py makes up. Another version of a program gives
# another trace, and a new trace begins a new history: record on purpose, not in passing.
set -eu
library=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$(python3 -c 'import sys; print(sys.executable)')
compiler=$("${CC:-gcc}" -print-prog-name=cc1)

record() { # record NAME COMMAND…
    name=$1
    shift
    rm -f "$here/captured/$name.trace"
    env LD_PRELOAD="$library" PACELINE_TRACE_FILE="$here/captured/$name.trace" PACELINE_TRACE_EVENTS=50000 \
        PYTHONMALLOC=malloc "$@" >/dev/null
}

record python_json "$python" -S -c '
import json
made = [{"id": i, "name": "n%d" % i, "tags": ["a", "b", str(i)]} for i in range(800)]
json.loads(json.dumps(made))'
record sqlite "$python" -S -c '
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("create table t(a integer primary key, b text)")
base.execute("create index i on t(b)")
base.executemany("insert into t(b) values(?)", ((str(i * 7919 % 10007) * 3,) for i in range(2000)))
base.execute("select b, count(*) from t group by substr(b, 1, 2) order by 1").fetchall()'
record perl perl -e '
my %h; for my $i (1..20000) { push @{$h{$i % 997}}, "v$i" x 3; } print scalar keys %h;'
source=$(mktemp)
awk 'BEGIN { for (i = 0; i < 150; i++)
    printf "int f%d(int *a, int n) { int s = %d; while (n-- > 0) s += a[n] * n; return s; }\n", i, i }' \
    >"$source"
record cc1 "$compiler" -quiet -O2 "$source" -o /dev/null
rm -f "$source"
record git git -C "$here" log --stat -n 40
python3 "$here/patterns.py" "$here/captured"
