#!/usr/bin/env bash
# Runs one .case file in a scratch directory and compares output (stdout and stderr together) and exit status:
#   # what the case shows                 (optional)
#   --- run.json                          (optional input files, each up to a line `---`)
#   {"model": "llama70b"}
#   ---
#   $ trainplan check run.json
#   the exact output
#   => 1
# TRAINPLAN_BLESS=1 rewrites the output and the status instead of comparing them; review the difference.
set -euo pipefail
case_file=$(realpath "$1")
bin_dir=$(realpath "$2")
[[ -x $bin_dir/trainplan ]] || { echo "no program in $bin_dir" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cwd"

command='' input='' in_output=''
: >"$scratch/head"
while IFS= read -r line || [[ -n $line ]]; do
  if [[ -n $in_output ]]; then
    printf '%s\n' "$line" >>"$scratch/expected"
    continue
  fi
  printf '%s\n' "$line" >>"$scratch/head"
  if [[ $line == '---' ]]; then
    input=''
  elif [[ $line == '--- '* ]]; then
    input="$scratch/cwd/${line#--- }"
    mkdir -p "$(dirname "$input")"
    : >"$input"
  elif [[ -n $input ]]; then
    printf '%s\n' "$line" >>"$input"
  elif [[ $line == '$ '* ]]; then
    command=${line#'$ '} in_output=1
    : >"$scratch/expected"
  elif [[ $line != '#'* ]]; then
    echo "$case_file: neither comment, input file nor command: $line" >&2
    exit 2
  fi
done <"$case_file"
[[ -n $command ]] || { echo "$case_file: no line starts with '\$ '" >&2; exit 2; }

status=0
(cd "$scratch/cwd" && env -u NO_COLOR LC_ALL=C TZ=UTC COLUMNS=100 HOME="$scratch" PATH="$bin_dir:$PATH" \
  bash -c "$command") >"$scratch/actual" 2>&1 </dev/null || status=$?
if [[ -s $scratch/actual && -n $(tail -c 1 "$scratch/actual") ]]; then
  printf '\n(no newline at the end)\n' >>"$scratch/actual"
fi
echo "=> $status" >>"$scratch/actual"

if [[ ${TRAINPLAN_BLESS:-} == 1 ]]; then
  cat "$scratch/head" "$scratch/actual" >"$case_file"
elif ! diff -u --label expected --label actual "$scratch/expected" "$scratch/actual"; then
  echo "$case_file: \$ $command" >&2
  exit 1
fi
