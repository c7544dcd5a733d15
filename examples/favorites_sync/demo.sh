#!/usr/bin/env bash
# Three favorites stores, three different trees: two Chromium files and one HTML file become one; then edits, a move, a
# deletion and one true conflict; then the loser comes back. The argument is the folder with the built programs.
set -euo pipefail
bin=$1
data="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/data"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/state"
cd "$work"
cp "$data/laptop.json" laptop
cp "$data/desktop.json" desktop
cp "$data/library.html" library.html

say() { printf '\n== %s\n' "$*"; }
harmonica() { printf '$ harmonica %s\n' "$*"; "$bin/harmonica" "$@"; }
expect() { [ "$1" = "$2" ] || { echo "demo: expected '$2', got '$1'" >&2; exit 1; }; }
verify_all() {
  harmonica verify laptop desktop
  harmonica verify laptop library.html
}

say "Before: three trees"
for store in laptop desktop library.html; do
  harmonica show "$store"
done

say "First contact: what they share becomes one, nothing is doubled"
harmonica sync laptop desktop library.html
verify_all

say "Edits on all three: a title here and another there (a conflict), a move, a deletion"
sed -i 's/"name": "Weather"/"name": "Weather at home"/' laptop
sleep 1.1
sed -i 's/"name": "Weather"/"name": "Will it rain?"/' desktop
# The HTML file: "Poems" leaves its folder for the end of the list, "Soup recipes" goes.
grep '>Poems<' library.html > poems
sed -i -e '/>Poems</d' -e '/>Soup recipes</d' library.html
sed -i -e '/>Maps</r poems' library.html
harmonica status laptop
harmonica sync laptop desktop library.html
verify_all

say "After: one tree, the same in all three files"
harmonica show laptop
harmonica show --json laptop > laptop.tree
for store in desktop library.html; do
  "$bin/harmonica" show --json "$store" > other.tree
  expect "$(grep -o '"title":"[^"]*"' other.tree | sort)" "$(grep -o '"title":"[^"]*"' laptop.tree | sort)"
done

say "What was decided, and how to have the loser back"
loser=""
for store in laptop desktop library.html; do
  harmonica conflicts list "$store"
  id=$("$bin/harmonica" conflicts list --json "$store" | grep -o '"id":"[0-9a-f]*"' | head -n 1 | cut -d'"' -f4 || true)
  if [ -n "$id" ]; then loser="$store $id"; fi
done
[ -n "$loser" ] || { echo "demo: no conflict was listed" >&2; exit 1; }
# shellcheck disable=SC2086
harmonica conflicts restore $loser
harmonica sync laptop desktop library.html
verify_all
harmonica show desktop

say "The same again as an app does it, each session as bytes through a channel"
mkdir app
cp "$data/laptop.json" app/laptop
cp "$data/desktop.json" app/desktop
cp "$data/library.html" app/library.html
"$bin/favorites_sync" --through-channel app/state app/laptop app/desktop app/library.html
"$bin/favorites_sync" app/state app/laptop app/desktop app/library.html

say "Done: three stores, one tree"
