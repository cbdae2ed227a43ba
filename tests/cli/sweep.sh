#!/usr/bin/env bash
# Sweeps that end early: interrupted, into a closed pipe, onto a full disk. What is written is always a prefix of
# whole rows, the same whatever the number of threads.
# usage: sweep.sh <folder of the program>
set -euo pipefail
program=$(realpath "$1")/trainplan
[[ -x $program ]] || { echo "no program $program" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C COLUMNS=100 HOME=$scratch
failures=0 cases=0

fail() {
  failures=$((failures + 1))
  echo "FAILED $1: $2" >&2
  head -c 1000 stderr >&2 || true
}

# expect <name> <status>: the status of the last command and what standard error must say about a lost output.
expect() {
  cases=$((cases + 1))
  [[ $status == "$2" ]] || fail "$1" "status $status instead of $2"
}
unwritten() {
  expect "$1" 2
  grep -qF "trainplan: cannot write $2: $3" stderr || fail "$1" "stderr does not say $2: $3"
}

# A prefix of an endless sweep is the sweep of fewer token budgets: the first axis changes least often.
question=(sweep llama8b h100x64)
per_budget=4
sweep() { # <budgets> <more arguments>
  local budgets=$1
  shift
  "$program" "${question[@]}" --tokens "1T..${budgets}T+1T" --tp 1,2,3,4 "$@"
}
endless=9999

# whole <name> <file>: a heading and rows, of which the first ones are those of a sweep that ends.
whole() {
  local rows
  [[ -z $(tail -c 1 "$2") ]] || fail "$1" "the last line has no end"
  rows=$(($(wc -l <"$2") - 1))
  ((rows > 0)) || { fail "$1" "no row"; return; }
  ((rows < endless * per_budget)) || fail "$1" "all rows: nothing was cut"
  sweep $(((rows + per_budget - 1) / per_budget)) --jobs 1 >all.csv || true
  head -n $((rows + 1)) all.csv | cmp - "$2" || fail "$1" "not the first rows"
}

# The number of threads does not show.
for format in csv jsonl markdown; do
  for jobs in 1 4; do
    status=0
    sweep 10 --format $format --jobs $jobs >jobs$jobs.$format 2>stderr || status=$?
    expect "$format, $jobs jobs" 0
    [[ ! -s stderr ]] || fail "$format, $jobs jobs" "something on stderr"
  done
  cmp jobs1.$format jobs4.$format || fail "$format" "4 threads write other rows than 1"
done

# Ctrl-C while rows come.
for jobs in 1 4; do
  rm -f part.csv
  "$program" "${question[@]}" --tokens "1T..${endless}T+1T" --tp 1,2,3,4 --jobs $jobs -o part.csv 2>stderr &
  for ((i = 0; i < 3000; ++i)); do
    [[ -s part.csv ]] && (($(wc -l <part.csv) > 5)) && break
    sleep 0.02
  done
  kill -INT $!
  status=0
  wait $! || status=$?
  expect "interrupted, $jobs jobs" 130
  whole "interrupted, $jobs jobs" part.csv
  rows=$(($(wc -l <part.csv) - 1))
  grep -qF "note: interrupted: $rows of $((endless * per_budget)) rows are written" stderr ||
    fail "interrupted, $jobs jobs" "stderr does not say how many of how many"
done

# A reader that has seen enough, and one that is gone.
status=0
{ sweep $endless 2>stderr || echo $? >status; } | head -n 3 >head.csv
status=$(<status)
unwritten 'a pipe that is closed' 'standard output' 'Broken pipe'
whole 'a pipe that is closed' head.csv
status=0
sweep 2 >&- 2>stderr || status=$?
unwritten 'no output' 'standard output' 'Bad file descriptor'

# Full disks: from the start, and in the middle of a row.
status=0
sweep 2 >/dev/full 2>stderr || status=$?
unwritten 'a full disk' 'standard output' 'No space left on device'
status=0
sweep 2 -o /dev/full 2>stderr || status=$?
unwritten '-o on a full disk' /dev/full 'No space left on device'
status=0
sweep 2 -o nowhere/rows.csv 2>stderr || status=$?
unwritten '-o into no folder' nowhere/rows.csv 'No such file or directory'
status=0
(trap '' XFSZ && ulimit -f 4 && sweep $endless -o cut.csv 2>stderr) || status=$?
unwritten 'a disk that fills up' cut.csv 'File too large'
whole 'a disk that fills up' cut.csv

# A mistake leaves the file of an earlier sweep alone.
echo before >kept.csv
status=0
sweep 2 --pp 1..8 -o kept.csv >stdout 2>stderr || status=$?
expect 'a mistake' 2
[[ $(<kept.csv) == before && ! -s stdout ]] || fail 'a mistake' 'something was written'

# On a terminal: a line from the first second on, gone at the end.
status=0
TERM=xterm script -qec "timeout -s INT 4 '$program' sweep llama8b h100x64 --tokens 1T..9999T+1T --tp 1,2,4,8 --pp 1,2,4,8 -o seen.csv" \
  terminal </dev/null >/dev/null 2>stderr || status=$?
grep -qaE '\] [0-9]+/159984 rows, [0-9.]+ rows/s, [0-9:]+ left' terminal || fail 'a terminal' 'no progress'
grep -qaF $'\r\033[Knote: interrupted' terminal || fail 'a terminal' 'the line is not cleared'

echo "$cases cases, $failures failed"
((failures == 0))
