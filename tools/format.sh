#!/usr/bin/env bash
# Formats every C++ file of the project; with --check only says which are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z -- '*.h' '*.cc' | xargs -0 -r -n 40 clang-format "${mode[@]}"
