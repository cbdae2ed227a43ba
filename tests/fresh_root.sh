#!/usr/bin/env bash
# Proves the README's two lines on an empty Debian: tests/fresh_root.sh bookworm|trixie root|user
# Makes a fresh root with debootstrap (from the mirror that this machine uses), clones the last commit into it, and runs
# both lines inside, as root or as an ordinary user with sudo. Needs root and debootstrap; takes some 10 minutes.
#   ROOT_CACHE=DIR   keep the bare root as DIR/<suite>.tar and reuse it
#   SOURCE=DIR       clone this repository instead of the one the script lies in
set -euo pipefail
suite=${1:-} mode=${2:-}
if [[ ! $suite =~ ^(bookworm|trixie)$ || ! $mode =~ ^(root|user)$ ]]; then
  echo "usage: $0 bookworm|trixie root|user" >&2
  exit 2
fi
source=${SOURCE:-$(realpath "$(dirname "$0")/..")}
work=$(mktemp -d)
root=$work/root

leave() {
  umount "$root/proc" 2>/dev/null || true
  # One file system only: if something is still mounted below, it stays untouched.
  rm -rf --one-file-system "$work"
}
trap leave EXIT

# The first Debian archive in apt's own lists, in either of their two formats.
mirror() {
  local files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list) file
  for file in "${files[@]}"; do
    [[ -f $file ]] && sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +([^ ]+\/debian\/?)( .*)?$/\3/p' "$file"
  done | head -n 1
}
hide_hosts() { sed -uE 's#https?://[^ /]*#(mirror)#g'; }

bare_root() {
  if [[ -f ${ROOT_CACHE:-}/$suite.tar ]]; then
    mkdir "$root"
    tar -C "$root" -xf "$ROOT_CACHE/$suite.tar"
    return
  fi
  if ! debootstrap --variant=minbase "$suite" "$root" "$(mirror)" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" | hide_hosts >&2
    exit 1
  fi
  [[ -z ${ROOT_CACHE:-} ]] || tar -C "$root" -cf "$ROOT_CACHE/$suite.tar" .
}

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"; }

bare_root
mount -t proc proc "$root/proc"
home=/root login=(bash)
if [[ $mode == user ]]; then
  inside sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo >/dev/null &&
    useradd --create-home --shell /bin/bash builder && echo "builder ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/builder'
  home=/home/builder login=(su builder -s /bin/bash)
fi
git clone -q --no-hardlinks "$source" "$root$home/trainplan"
[[ $mode == root ]] || inside chown -R builder: "$home/trainplan"

mapfile -t lines < <("$root$home/trainplan/.ci/run" --print)
((${#lines[@]} == 2)) || { echo "the README should give two lines, not ${#lines[@]}" >&2; exit 1; }
for line in "${lines[@]}"; do
  printf '\n[%s, %s] $ %s\n' "$suite" "$mode" "$line"
  start=$SECONDS
  inside HOME="$home" "${login[@]}" -c "set -eo pipefail; cd $home/trainplan; $line" </dev/null 2>&1 | hide_hosts
  printf '[%s, %s] status 0 after %d s\n' "$suite" "$mode" $((SECONDS - start))
done
