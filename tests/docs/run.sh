#!/usr/bin/env bash
# Runs the ```console blocks of a Markdown file, all in one scratch directory, and compares what they print
# (stdout and stderr together). `$ ` starts a command, `> ` continues one that ends in a backslash, a line `...`
# stands for any lines. A block tagged with a language and a file name (```json run.json) creates that file.
# TRAINPLAN_BLESS=1 rewrites the output of every command that uses no `...`; review the difference.
set -euo pipefail
doc=$(realpath "$1")
bin_dir=$(realpath "$2")
[[ -x $bin_dir/trainplan ]] || { echo "no program in $bin_dir" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cwd"
blessed=$scratch/blessed
: >"$blessed"
failures=0 commands=0 number=0
command='' expected=()

# Do the actual lines match the expected ones, where `...` matches any number of lines?
matches() {
  local e=0 a=0 star=-1 mark=0
  while ((a < ${#actual[@]})); do
    if ((e < ${#expected[@]})) && [[ ${expected[e]} == ... ]]; then
      star=$e mark=$a
      e=$((e + 1))
    elif ((e < ${#expected[@]})) && [[ ${expected[e]} == "${actual[a]}" ]]; then
      e=$((e + 1)) a=$((a + 1))
    elif ((star >= 0)); then
      e=$((star + 1)) mark=$((mark + 1))
      a=$mark
    else
      return 1
    fi
  done
  while ((e < ${#expected[@]})) && [[ ${expected[e]} == ... ]]; do e=$((e + 1)); done
  ((e == ${#expected[@]}))
}

lines() { (($# == 0)) || printf '%s\n' "$@"; }

uses_dots() {
  local line
  for line in "${expected[@]}"; do [[ $line != ... ]] || return 0; done
  return 1
}

finish() {
  [[ -n $command ]] || return 0
  commands=$((commands + 1))
  (cd "$scratch/cwd" && env -u NO_COLOR LC_ALL=C TZ=UTC COLUMNS=100 HOME="$scratch" PATH="$bin_dir:$PATH" \
    bash -c "$command") >"$scratch/actual" 2>&1 </dev/null || true
  mapfile -t actual <"$scratch/actual"
  if [[ ${TRAINPLAN_BLESS:-} == 1 ]] && ! uses_dots; then
    lines "${actual[@]}" >>"$blessed"
  else
    lines "${expected[@]}" >>"$blessed"
    if ! matches; then
      echo "$doc:$command_line: \$ $command"
      lines "${expected[@]}" >"$scratch/expected"
      lines "${actual[@]}" >"$scratch/printed"
      diff -u --label expected --label actual "$scratch/expected" "$scratch/printed" || true
      failures=$((failures + 1))
    fi
  fi
  command='' expected=()
}

block='' file=''
while IFS= read -r line || [[ -n $line ]]; do
  number=$((number + 1))
  if [[ $line == '```'* ]]; then
    [[ $block != console ]] || finish
    if [[ -n $block ]]; then
      block='' file=''
    else
      read -r block file <<<"${line#'```'} "
      block=${block:-text}
      if [[ -n $file ]]; then
        file=$scratch/cwd/$file
        mkdir -p "$(dirname "$file")"
        : >"$file"
      fi
    fi
  elif [[ $block == console ]]; then
    if [[ $line == '$ '* ]]; then
      finish
      command=${line#'$ '} command_line=$number
    elif [[ $line == '> '* && $command == *\\ ]]; then
      command+=$'\n'${line#'> '}
    elif [[ -n $command ]]; then
      expected+=("$line")
      continue # written by finish
    fi
  elif [[ -n $file ]]; then
    printf '%s\n' "$line" >>"$file"
  fi
  printf '%s\n' "$line" >>"$blessed"
done <"$doc"

[[ ${TRAINPLAN_BLESS:-} != 1 ]] || cmp -s "$blessed" "$doc" || cat "$blessed" >"$doc"
echo "$doc: $commands commands, $failures failed"
((failures == 0))
