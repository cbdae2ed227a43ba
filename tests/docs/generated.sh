#!/usr/bin/env bash
# Compares the generated part of a Markdown file with what the program prints. The part stands between the lines
# `<!-- generated: trainplan ... -->` and `<!-- end of the generated part -->`; the command is the one named there.
# TRAINPLAN_BLESS=1 writes the output into the file instead; review the difference.
set -euo pipefail
doc=$(realpath "$1")
bin_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
open='<!-- generated: ' close='<!-- end of the generated part -->'
command=''
parts=0
while IFS= read -r line || [[ -n $line ]]; do
  if [[ -z $command && $line == "$open"*' -->' ]]; then
    command=${line#"$open"} command=${command%' -->'}
    parts=$((parts + 1))
    echo "$line"
    (cd "$scratch" && PATH="$bin_dir:$PATH" bash -c "$command" </dev/null)
  elif [[ $line == "$close" ]]; then
    command=''
    echo "$line"
  elif [[ -z $command ]]; then
    echo "$line"
  fi
done <"$doc" >"$scratch/fresh"
if ((parts == 0)) || [[ -n $command ]]; then
  echo "$doc: no generated part, or one without an end"
  exit 1
fi
if [[ ${TRAINPLAN_BLESS:-} == 1 ]]; then
  cmp -s "$scratch/fresh" "$doc" || cat "$scratch/fresh" >"$doc"
fi
if ! diff -u --label "$doc" --label "the program" "$doc" "$scratch/fresh"; then
  echo "run it with TRAINPLAN_BLESS=1 and review the difference"
  exit 1
fi
echo "$doc: $parts generated part(s) up to date"
