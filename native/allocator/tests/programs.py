#!/usr/bin/env python3
"""Real programs under two allocators: ratios of time, page faults, peak memory and instructions.

    programs.py OURS OTHER [--rounds=10] [--only=TEXT] [--instructions]

OURS and OTHER are shared libraries, preloaded in turn, round after round and first in every second round, so
that a busy machine slows both alike. A figure is the median over rounds of ours divided by other's, and for
time also the least of ours by the least of other's, which a busy machine disturbs less; user and system time
of the program and what it started, by wait4. With --instructions callgrind counts the user's
instructions once for each, and nothing else is measured. The last line is the geometric
mean, of the least times.

It deliberately does not judge outputs (preload.sh does) and keeps no times: they are of the machine.
"""

import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = """
import collections, json, re
words = ["%x" % (i * 2654435761 % 2**32) for i in range(60000)]
table = collections.defaultdict(list)
for word in words:
    table[word[:3]].append({"word": word, "tail": word[3:], "at": len(table)})
text = json.dumps(table)
again = json.loads(text)
assert again == table
tree = None
for word in words:
    tree = (tree, word, [word] * 3) if len(word) % 2 else (word, tree)
print(len(text), len(re.findall("[a-f]+", text)), sum(hash(str(i)) % 7 for i in range(200000)))
"""
SQL = """
create table t (id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000)
insert into t select i, hex(i * 7919 % 104729), i * 0.5 from n;
create index by_name on t (name);
select count(*), sum(length(a.name)) from t a join t b on a.name = b.name and a.id < b.id;
select sum(length(g)) from (select group_concat(name) g from t group by id % 5000);
update t set name = name || 'x' where id % 3 = 0;
select count(distinct substr(name, 1, 4)) from t;
"""
PERL = r"""
my (%h, @rows);
for my $i (1 .. 150000) {
    my $k = ($i * 7919) % 50021;
    $h{"k$k"} .= "v$i,";
    push @rows, [$i, "r$k"] if $i % 3 == 0;
}
my @s = sort { $a->[1] cmp $b->[1] } @rows;
my $t = join "", map { my $x = $_; $x =~ s/(\d+)/<$1>/g; $x } map { $h{$_} } sort keys %h;
print length($t), " ", scalar(@s), "\n";
"""


def generated_c(functions: int) -> str:
    lines = ["struct p { int a[8]; double d; struct p *next; };"]
    for n in range(functions):
        lines.append(
            f"int f{n}(struct p *p, int x) {{ int s = {n}; for (int i = 0; i < x; i++) {{"
            f" struct p *q = p; while (q) {{ s += q->a[i & 7] * {n % 13 + 1}; q->d += s / (double)(x + {n});"
            f" if (s & {1 << n % 9}) s ^= q->a[(s >> 3) & 7]; q = q->next; }} switch (s % 7) {{"
            f" case 0: s += 3; break; case 1: s *= 5; case 2: s -= x; break; default: s ^= i; }} }}"
            f" return {'s' if n == 0 else f'f{n - 1}(p, s & 15) + s'}; }}"
        )
    return "\n".join(lines)


def make_repository(place: Path) -> None:
    def git(*arguments: str, **more):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.invalid", "-c", "gc.auto=0"]
        subprocess.run(["git", "-C", str(place), *identity, *arguments], check=True, **more)

    place.mkdir()
    git("init", "-q")
    for step in range(60):
        for number in range(25):
            rows = [f"{i * (number + 3) % 997} {'abc' * (i % 7)} {step // (number + 1)}" for i in range(200)]
            (place / f"file{number}").write_text("\n".join(rows + [str(step)] * step))
        git("add", "-A")
        git("commit", "-qm", f"step {step}", stdout=subprocess.DEVNULL)


def programs(work: Path) -> dict[str, list[str]]:
    """Name to command; each is repeatable and says little."""
    (work / "program.py").write_text(PYTHON)
    (work / "program.sql").write_text(SQL)
    (work / "program.pl").write_text(PERL)
    (work / "program.c").write_text(generated_c(120))
    make_repository(work / "repository")
    asked = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True)
    repack = ["git", "-C", str(work / "repository"), "-c", "pack.threads=1", "repack", "-adfq", "--depth=50"]
    return {
        "python3 start": [sys.executable, "-c", "pass"],
        "python3": [sys.executable, str(work / "program.py")],
        "sqlite3": ["sqlite3", ":memory:", f".read {work}/program.sql"],
        "gcc cc1": [asked.stdout.strip(), "-quiet", "-O2", "-o", os.devnull, str(work / "program.c")],
        "perl": ["perl", str(work / "program.pl")],
        "git repack": repack,
        "git log": ["git", "-C", str(work / "repository"), "log", "-p", "--stat", "-M"],
    }


def environment(library: str) -> dict[str, str]:
    return {**os.environ, "LD_PRELOAD": library, "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}


def measure(command: list[str], library: str) -> tuple[float, float, float]:
    """Seconds of processor, page faults and KiB at most, of one run."""
    with Path(os.devnull).open("wb") as nothing:
        child = subprocess.Popen(command, env=environment(library), stdout=nothing)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        sys.exit(f"{command[0]} ended with status {status:#x} under {library}")
    return used.ru_utime + used.ru_stime, used.ru_minflt, used.ru_maxrss


def instructions(command: list[str], library: str) -> int:
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    done = subprocess.run(
        tool + command, check=False, env=environment(library), capture_output=True, text=True
    )
    counts = [line for line in done.stderr.splitlines() if "Collected" in line]
    if done.returncode != 0 or not counts:
        sys.exit(f"{command[0]} under callgrind and {library}: {done.stderr[-2000:]}")
    return int(counts[-1].split(":")[1])


def compare(name: str, command: list[str], ours: str, other: str, rounds: int) -> float:
    """Prints the line of a program; answers the ratio of the least times."""
    rows, times = [], []
    for number in range(rounds):
        first, second = (ours, other) if number % 2 == 0 else (other, ours)
        pair = {library: measure(command, library) for library in (first, second)}
        rows.append(tuple(a / b for a, b in zip(pair[ours], pair[other], strict=True)))
        times.append((pair[ours][0], pair[other][0]))
    time, faults, peak = (statistics.median(column) for column in zip(*rows, strict=True))
    spread = sorted(row[0] for row in rows)
    least = min(a for a, _ in times) / min(b for _, b in times)
    within = f"({spread[0]:.3f}, {spread[-1]:.3f})"
    say(f"{name:14} {least:.3f}  {time:.3f} {within} {faults:7.3f} {peak:8.3f}")
    return least


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    options = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
    libraries = [str(Path(word).resolve()) for word in sys.argv[1:] if not word.startswith("--")]
    if len(libraries) != 2:
        sys.exit(__doc__)
    ours, other = libraries
    means = []
    with tempfile.TemporaryDirectory() as folder:
        say(
            "instructions"
            if "instructions" in options
            else "program      least  median (from, to)  faults  peak memory"
        )
        for name, command in programs(Path(folder)).items():
            if options.get("only", "") not in name or shutil.which(command[0]) is None:
                continue
            if "instructions" in options:
                means.append(instructions(command, ours) / instructions(command, other))
                say(f"{name:14} {means[-1]:.3f}")
                continue
            means.append(compare(name, command, ours, other, int(options.get("rounds", "10"))))
    say(f"geometric mean {math.exp(statistics.fmean(map(math.log, means))):.3f}")


if __name__ == "__main__":
    main()
