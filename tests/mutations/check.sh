#!/usr/bin/env bash
# Whether the tests notice when the kernel is wrong: each fault of faults.txt is put in, one after the other, and what is built
# from it has to fail. Works on a copy in build/mutations.
#
#   tests/mutations/check.sh [PATTERN]     those whose name contains PATTERN; all without one
#   HARMONICA_MUTATION_SEEDS               of the simulator in each scenario, 400 unless set
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
pattern=${1:-}
seeds=${HARMONICA_MUTATION_SEEDS:-400}
copy=$PWD/build/mutations/source
build=$PWD/build/mutations/build

rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z | xargs -0 cp --parents -t "$copy"
# Without the flags of the presets: a fault may leave something unused.
cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_C_COMPILER_LAUNCHER=ccache \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >/dev/null
programs=(tests_laws tests_kernel tests_oracles harmonica_simulation)

# The first of the programs that fails.
catcher() {
  local program scenario
  cmake --build "$build" --target "${programs[@]}" >"$build.log" 2>&1 || { echo "the compiler"; return; }
  for program in tests_laws tests_kernel tests_oracles; do
    timeout 300 "$build/bin/$program" --gtest_brief=1 >"$build.log" 2>&1 || { echo "$program"; return; }
  done
  for scenario in mixed rules bookmarks forgetting filters copies disk-full identity erasing records; do
    timeout 600 "$build/bin/harmonica_simulation" --scenario "$scenario" --seeds "$seeds" >"$build.log" 2>&1 ||
      { echo "simulator, $(tail -n 1 "$build.log" | sed 's/.*--seed \([0-9]*\).*/seed \1/') of $scenario"; return; }
  done
}

[ -z "$(catcher)" ] || { echo "the kernel as it is fails:" >&2; tail -n 20 "$build.log" >&2; exit 1; }

tried=0
missed=0
name= file= before=
while IFS= read -r line; do
  case $line in
    "["*"]") name=${line:1:-1} ;;
    "in "*) file=${line#in } ;;
    "- "*) before=${line#- } ;;
    "+"*)
      after=${line#+}
      after=${after# }
      [[ $name == *"$pattern"* ]] || continue
      cp "$copy/$file" "$build.original"
      BEFORE=$before AFTER=$after perl -0777 -pi -e \
        'my $count = s/\Q$ENV{BEFORE}\E/$ENV{AFTER}/g; die "the line stands there " . ($count || 0) . " times\n" if $count != 1' \
        "$copy/$file" || { echo "$name: in $file" >&2; exit 1; }
      by=$(catcher)
      printf '%-72s %s\n' "$name" "${by:-NOT CAUGHT}"
      tried=$((tried + 1))
      [ -n "$by" ] || missed=$((missed + 1))
      cp "$build.original" "$copy/$file"
      ;;
  esac
done <tests/mutations/faults.txt
echo "$tried faults, $missed not caught"
[ $missed = 0 ] && [ $tried -gt 0 ]
