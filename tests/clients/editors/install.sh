#!/usr/bin/env bash
# install.sh DIR: the command-line clients of Codex and Gemini under DIR; prints the exports that tests/clients needs.
set -u
command -v npm >/dev/null || exit 0
mkdir -p "$1" && cd "$1" || exit 0
echo '{"private": true}' >package.json
for turn in 1 2 3; do
  npm install --no-audit --no-fund @openai/codex@0.171 @google/gemini-cli@0.61 >install.log 2>&1 && break
  sleep "$turn"
done
[ -x node_modules/.bin/codex ] && echo "export SLIPSTREAM_CODEX='$PWD/node_modules/.bin/codex'"
[ -x node_modules/.bin/gemini ] && echo "export SLIPSTREAM_GEMINI='$PWD/node_modules/.bin/gemini'"
exit 0
