#!/usr/bin/env bash
# Installs what a build needs and the machine lacks, on Debian with apt-get; elsewhere names it and stops.
#
#   tools/deps.sh            to build and test
#   tools/deps.sh ci         also for every lane of .ci/run
#   tools/deps.sh nightly    also for .ci/nightly
set -euo pipefail

# Debian's names; what each is for stands in docs/architecture.md, "Dependencies".
packages=(
  g++ cmake ninja-build ccache
  libprotobuf-dev protobuf-compiler libsqlite3-dev libssl-dev rapidjson-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
case "${1:-}" in
  "") ;;
  ci) packages+=(clang libclang-rt-14-dev clang-format) ;;
  nightly) packages+=(clang libclang-rt-14-dev clang-format clang-tidy lcov libmbedtls-dev) ;;
  *) echo "usage: tools/deps.sh [ci|nightly]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system: please install what these Debian packages hold, then call the build by hand" >&2
  echo "(README.md, \"Build it\"): ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing with apt-get: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
