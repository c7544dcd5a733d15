# What .ci/run and .ci/nightly share; sourced by both, in the top folder of the project.

results=()
failed=0
logs=build/ci
mkdir -p "$logs"

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# lane NAME COMMAND...   Runs it with its output in build/ci/NAME.log, and goes on if it fails.
lane() {
  local name=$1 begin=$SECONDS code=0 outcome=ok
  shift
  echo "== $name"
  set +e
  (set -e; "$@") >"$logs/$name.log" 2>&1
  code=$?
  set -e
  if [ $code != 0 ]; then
    outcome=FAILED
    failed=1
    tail -n 80 "$logs/$name.log"
  fi
  results+=("$(printf '%-14s %-8s %8s' "$name" "$outcome" "$(clock $((SECONDS - begin)))")")
  echo "   ${results[-1]}"
}

print_lanes() {
  echo
  printf '%-14s %-8s %8s\n' lane result time
  printf '%s\n' "${results[@]}" "$(printf '%-14s %-8s %8s' all "$([ $failed = 0 ] && echo ok || echo FAILED)" "$(clock $SECONDS)")"
}

# The test runner's own summary of a lane.
print_test_summary() {
  echo
  sed -n '/tests passed, .* tests failed out of/,$p' "$logs/$1.log"
}

# configured_tests PRESET [CTEST ARGUMENT...]   Configures, builds and runs the tests of one preset.
configured_tests() {
  local preset=$1
  shift
  cmake --preset "$preset"
  cmake --build --preset "$preset"
  ctest --preset "$preset" "$@"
}
