#!/usr/bin/env bash
# Three favorites stores in sync, and everything that can happen to who they are: one goes back to a backup of a week ago and is
# edited, one is copied to a third path and both are edited, one is away for longer than deletions are remembered. In the end all
# are equal, nobody's work is missing, and nothing that was deleted is back.
#
#   identity.sh HARMONICA SHIFTED_CLOCK
#
# SHIFTED_CLOCK is a library to preload that moves the clock ahead by the number of seconds in the file that HARMONICA_CLOCK names.
set -euo pipefail
export LC_ALL=C
harmonica=$1 shifted_clock=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_STATE_HOME=$folder/outside HARMONICA_CLOCK=$folder/clock ASAN_OPTIONS=verify_asan_link_order=0
state=$folder/state
a=$folder/a.html b=$folder/b.html c=$folder/c.html

fail() {
  echo "identity.sh: $*" >&2
  exit 1
}

# Days since the beginning.
at_day() { echo $(($1 * 86400)) >"$HARMONICA_CLOCK"; }
program() { LD_PRELOAD=$shifted_clock "$harmonica" "$@" --state "$state"; }
sync() { program sync "$@" >"$folder/log" 2>&1 || fail "sync $*: $(cat "$folder/log")"; }
entry() { echo "    <DT><A HREF=\"about:$1\">${2:-$1}</A>"; }
bookmarks() {
  echo '<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>'
  for word in "$@"; do entry "$word"; done
  echo '</DL><p>'
}
add() { sed -i "s|^</DL><p>|$(entry "$2")\n</DL><p>|" "$1"; }
rename() { sed -i "s|>$2<|>$3<|" "$1"; }
delete() { sed -i "/>$2</d" "$1"; }
titles() { sed -nE 's|.*<A [^>]*>([^<]*)</A>.*|\1|p' "$1" | sort | paste -sd' '; }
expect() {
  local store
  for store in "$a" "$b" "$c"; do
    [ "$(titles "$store")" = "$1" ] || fail "$2: $(basename "$store") has '$(titles "$store")', not '$1'"
  done
}

at_day 100
ahead=$(($(LD_PRELOAD=$shifted_clock date +%s) - $(date +%s)))
[ $ahead -gt 8000000 ] || fail "the clock does not follow $shifted_clock"

at_day 0
bookmarks one two three four five six >"$a"
cp "$a" "$b"
program status "$a" >/dev/null || fail "no status"
metadata=$(ls "$state"/replicas/*.db)
sync "$a" "$b"
cp "$a" "$folder/a.backup"
cp "$metadata" "$folder/metadata.backup"

echo "A week later: edited on both sides, then A and what is known of it go back to the backup, and A is edited."
at_day 7
rename "$a" one one-of-a
add "$b" seven
sync "$a" "$b"
at_day 8
cp "$folder/a.backup" "$a"
rm -f "$metadata"*
cp "$folder/metadata.backup" "$metadata"
rename "$a" two two-of-a
sync "$a" "$b"
sync "$a" "$b"
program status "$a" | grep -q 'until its metadata was restored from a backup' || fail "status says nothing of the restore"

echo "A copy of A at a third path: both are edited."
at_day 9
cp "$a" "$c"
sync "$a" "$c"
add "$a" eight
rename "$c" three three-of-c
sync "$a" "$b" "$c"
expect 'eight five four one-of-a seven six three-of-c two-of-a' 'after the copy'

echo "C is away for 100 days; something is deleted and something edited meanwhile, and C is edited too."
delete "$a" four
at_day 10
sync "$a" "$b"
at_day 60
rename "$b" five five-of-b
sync "$a" "$b"
at_day 109
sync "$a" "$b"
add "$c" nine
rename "$c" six six-of-c
sync "$a" "$b" "$c"
expect 'eight five-of-b nine one-of-a seven six-of-c three-of-c two-of-a' 'in the end'
program verify "$a" "$b" >/dev/null || fail "A and B differ"
program verify "$a" "$c" >/dev/null || fail "A and C differ"

echo "identity: all equal, nobody's work is missing, nothing deleted is back"
