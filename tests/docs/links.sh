#!/usr/bin/env bash
# Checks that every relative link of the given Markdown files leads to a file, and its anchor to a heading of it.
set -euo pipefail
broken=0 links=0

# Headings as GitHub names them: lower case, no punctuation, spaces to hyphens.
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }

for doc in "$@"; do
  while IFS= read -r link; do
    [[ $link != *://* ]] || continue
    links=$((links + 1))
    path=${link%%#*} anchor=''
    [[ $link != *'#'* ]] || anchor=${link#*#}
    target=${path:+$(dirname "$doc")/$path}
    target=${target:-$doc}
    if [[ ! -e $target ]] || { [[ -n $anchor ]] && ! anchors "$target" | grep -Fxq -- "$anchor"; }; then
      echo "$doc: broken link: $link"
      broken=$((broken + 1))
    fi
  done < <(sed '/^```/,/^```/d' "$doc" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
done
echo "$links links, $broken broken"
((links > 0 && broken == 0))
