#!/usr/bin/env bash
# run.sh SCRATCH: installs the third-party parts under SCRATCH, then runs tests/clients against them.
# Each tests/clients/<part>/install.sh DIR prints `export NAME='value'` lines for what it could install, for `eval`.
# A part whose registry does not answer is reported as "not run" and leaves the exit status alone; a skip of a part that
# was installed is a failure (SLIPSTREAM_REQUIRE_CLIENTS).
set -u
scratch=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
required=""
export SLIPSTREAM_PICTURES=${SLIPSTREAM_PICTURES:-$PWD/.ci/artefacts}  # what the browser tests saw; git ignores it
mkdir -p "$SLIPSTREAM_PICTURES"

try() {  # up to three times, quietly
  local turn
  for turn in 1 2 3; do "$@" >"$scratch/client-install.log" 2>&1 && return 0; sleep "$turn"; done
  echo "not run: $* (see what follows)"
  tail -n 3 "$scratch/client-install.log"
  return 1
}

# The Python that runs the tests carries the packages they import themselves.
python=$(command -v python3)
if python3 -m venv "$scratch/clients" && try "$scratch/clients/bin/pip" install -q pyyaml; then
  python=$scratch/clients/bin/python
  required="PyYAML"
  try "$python" -m pip install -q "tree-sitter-language-pack<1" && required="$required,tree-sitter"
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  missing=""
  for pair in ctags:universal-ctags chromium:chromium; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
  done
  # shellcheck disable=SC2086 -- a list of package names
  [ -z "$missing" ] || { try apt-get update -qq && try env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; }
fi
command -v ctags >/dev/null && required="$required,ctags"
command -v chromium >/dev/null && required="$required,chromium"

for script in "$here"/*/install.sh; do
  part=$(basename "$(dirname "$script")")
  echo "-- installing $part"
  lines=$(bash "$script" "$scratch/part-$part")
  eval "$lines"
  [ -z "$lines" ] && echo "not run: $part (nothing could be installed)" || required="$required,$part"
done

export SLIPSTREAM_REQUIRE_CLIENTS=$required
echo "-- parts there: $required"
exec "$python" -m unittest discover -t . -s tests/clients
