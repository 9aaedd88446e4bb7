#!/bin/sh
# Inputs of real programs, and the commands that work on them: what the benchmark `programs` and
# tests/programs.py run with one allocator after the other preloaded.
#
#   prepare.sh FOLDER PERCENT    fills FOLDER, which is empty; PERCENT of the work, 100 is about a second each
#
#   FOLDER/commands    a line per program: its name and the words of its command, a tab before each word.
#                      A program that is not installed has no line.
#
# Every command can be run again and says the same each time. Nothing is drawn at random and no clock is read.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=$1
percent=$2
tab=$(printf '\t')

share() { # share N: PERCENT of N, at least 1
    echo $((($1 * percent + 99) / 100))
}

there() { command -v "$1" >/dev/null 2>&1; }

command_line() { # command_line NAME WORD…
    (
        IFS=$tab
        printf '%s\n' "$*"
    ) >>"$folder/commands"
}

: >"$folder/commands"
if there python3; then
    # The interpreter itself: what is called python3 may be a script.
    python=$(python3 -c 'import sys; print(sys.executable)')
    command_line python_start "$python" -c pass
    command_line python "$python" "$here/program.py" "$(share 60000)"
fi
if there sqlite3; then
    sed "s/ROWS/$(share 120000)/" "$here/program.sql" >"$folder/program.sql"
    command_line sqlite "$(command -v sqlite3)" :memory: ".read $folder/program.sql"
fi
if there gcc && compiler=$(gcc -print-prog-name=cc1) && [ -x "$compiler" ]; then
    awk -v functions="$(share 120)" -f "$here/program_c.awk" >"$folder/program.c"
    command_line cc1 "$compiler" -quiet -O2 -o /dev/null "$folder/program.c"
fi
if there perl; then
    command_line perl "$(command -v perl)" "$here/program.pl" "$(share 150000)"
fi
if there git; then
    git=$(command -v git)
    "$git" init --quiet --bare "$folder/repository"
    awk -v steps="$(share 60)" -f "$here/commits.awk" |
        "$git" -C "$folder/repository" fast-import --quiet
    command_line git_repack "$git" -C "$folder/repository" -c pack.threads=1 repack -adfq --depth=50
    command_line git_log "$git" -C "$folder/repository" log -p --stat -M main
fi
if there redis-server && there redis-benchmark; then
    command_line redis "$(command -v redis-server)" "$(command -v redis-benchmark)" "$(share 80000)"
fi
