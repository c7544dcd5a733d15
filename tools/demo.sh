#!/usr/bin/env bash
# Builds the program and shows three favorites stores become one: from a bare Debian 12, or at once where all is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/deps.sh
cmake --preset release >/dev/null
cmake --build --preset release --target harmonica favorites_sync
exec examples/favorites_sync/demo.sh "$PWD/build/release/bin"
