#!/usr/bin/env bash
# Builds everything and runs all tests: from a bare Debian 12, or at once where all is there. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/deps.sh
cmake --preset dev
cmake --build --preset dev
ctest --preset dev "$@"
