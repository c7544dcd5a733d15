#!/usr/bin/env bash
# Kills `harmonica sync` at random moments between two stores of 5,000 bookmarks each, syncs once more and looks whether both
# hold everything exactly once. Every other round begins with stores that have been in sync and were edited since.
#
#   kill_loop.sh HARMONICA MAKE_BOOKMARKS COUNT [SEED]
#
# HARMONICA_KILLS, where it is set, takes the place of COUNT. The same seed gives the same fractions of a sync at which it is killed.
set -euo pipefail
export LC_ALL=C
harmonica=$1 make_bookmarks=$2 count=${HARMONICA_KILLS:-$3} seed=${4:-$RANDOM}
bookmarks=${HARMONICA_KILL_BOOKMARKS:-5000}
RANDOM=$seed

# A file system in memory spares the waiting for the disk: what a killed process has written is there all the same.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_STATE_HOME=$folder/state
a=$folder/A b=$folder/B

fail() {
  echo "round $round of seed $seed (killed after ${delay:-0} ms): $*" >&2
  trap - EXIT
  echo "what is left stands in $folder" >&2
  exit 1
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Titles and addresses, one a line and sorted, those of the roots apart.
entries() {
  sed -nE 's/^ *("(name|url)": .*[^,]),?$/\1/p' "$@" | grep -vxE '"name": "(bookmark_bar|other|synced)"' | sort
}

# Stores, state and what both have to hold in the end, as they are before a round.
keep() {
  mkdir "$folder/$1"
  cp -a "$a" "$b" "$folder/$1/"
  if [ -d "$XDG_STATE_HOME" ]; then cp -a "$XDG_STATE_HOME" "$folder/$1/state"; fi
}
bring_back() {
  rm -rf "$XDG_STATE_HOME" "$a" "$b"
  cp -a "$folder/$1/A" "$folder/$1/B" "$folder/"
  if [ -d "$folder/$1/state" ]; then cp -a "$folder/$1/state" "$XDG_STATE_HOME"; fi
}

round=0
"$make_bookmarks" "$bookmarks" "$seed" >"$a"
"$make_bookmarks" "$bookmarks" "$((seed + 1))" >"$b"
entries "$a" "$b" >"$folder/expected.first"
keep first

start=$(now_ms)
"$harmonica" sync "$a" "$b" >"$folder/output" 2>&1 || fail "the sync that nobody kills: $(cat "$folder/output")"
took=$(($(now_ms) - start))
entries "$a" | diff -q "$folder/expected.first" - >/dev/null || fail "the sync that nobody kills loses or doubles something"

# One store renames every tenth bookmark or so, the other one every other tenth.
sed -i -E 's/("name": ".*river.*) ([0-9]*3)"/\1 renamed in A \2"/' "$a"
sed -i -E 's/("name": ".*stone.*) ([0-9]*7)"/\1 renamed in B \2"/' "$b"
entries "$a" | sed -E 's/("name": ".*stone.*) ([0-9]*7)"/\1 renamed in B \2"/' | sort >"$folder/expected.edited"
keep edited

killed=0
while [ $killed -lt "$count" ]; do
  round=$((round + 1))
  [ $round -le $((10 * count + 10)) ] || fail "a sync is over too soon to be killed"
  if [ $((round % 2)) -eq 1 ]; then from=first; else from=edited; fi
  bring_back $from
  delay=$((took * (RANDOM % 1000) / 1000))
  "$harmonica" sync "$a" "$b" >"$folder/output" 2>&1 &
  child=$!
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  kill -9 $child 2>/dev/null || true
  code=0
  wait $child 2>/dev/null || code=$?
  if [ $code -eq 137 ]; then
    killed=$((killed + 1))
  elif [ $code -eq 0 ]; then
    took=$((took * 9 / 10 + 10)) # it was slower when it was measured
  else
    fail "exit $code: $(cat "$folder/output")"
  fi

  "$harmonica" sync "$a" "$b" >"$folder/output" 2>&1 || fail "the next sync: exit $?: $(cat "$folder/output")"
  "$harmonica" verify "$a" "$b" >"$folder/output" 2>&1 || fail "verify: exit $?: $(head -c 2000 "$folder/output")"
  for store in "$a" "$b"; do
    entries "$store" >"$folder/found"
    diff "$folder/expected.$from" "$folder/found" >"$folder/output" || fail "$store: $(head -20 "$folder/output")"
  done
done
echo "$killed kills in the middle of a sync of $bookmarks bookmarks, seed $seed, $round rounds: nothing lost, nothing doubled"
