#!/usr/bin/env bash
# Checks that the excerpts of a Markdown file stand in the sources: a block tagged with a language and the path of a
# file of this repository must occur in that file, spaces and line breaks apart. A line `...` skips what lies between.
set -euo pipefail
doc=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
block='' file='' piece='' checked=0 missing=0

# Is the piece collected so far in the file?
check() {
  local wanted
  wanted=$(tr -d '[:space:]' <<<"$piece")
  piece=''
  [[ -n $wanted ]] || return 0
  checked=$((checked + 1))
  if [[ $(tr -d '[:space:]' <"$file") != *"$wanted"* ]]; then
    echo "$doc: not in $file: $wanted"
    missing=$((missing + 1))
  fi
}

while IFS= read -r line || [[ -n $line ]]; do
  if [[ $line == '```'* && -n $block ]]; then
    [[ -z $file ]] || check
    block='' file=''
  elif [[ $line == '```'* ]]; then
    read -r block file <<<"${line#'```'} "
    block=${block:-text}
    [[ -f $file ]] || file=''
  elif [[ -n $file && $line == ... ]]; then
    check
  elif [[ -n $file ]]; then
    piece+=$line
  fi
done <"$doc"
echo "$doc: $checked excerpts, $missing not found"
((checked > 0 && missing == 0))
