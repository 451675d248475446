#!/usr/bin/env bash
# install.sh DIR: what the gates of the stack skills run: PostgreSQL from Debian, wrangler from npm; prints the exports.
set -u
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -z "$server" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  for turn in 1 2 3; do
    apt-get update -qq >/dev/null 2>&1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql postgresql-client >/dev/null 2>&1 && break
    sleep "$turn"
  done
  server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
fi
[ -n "$server" ] && echo "export SLIPSTREAM_POSTGRES='$server'"
command -v npm >/dev/null || exit 0
mkdir -p "$1" && cd "$1" || exit 0
echo '{"private": true}' >package.json
for turn in 1 2 3; do
  npm install --no-audit --no-fund wrangler@4.50.0 >install.log 2>&1 && break  # later ones want Node 22
  sleep "$turn"
done
[ -x node_modules/.bin/wrangler ] && echo "export SLIPSTREAM_WRANGLER='$PWD/node_modules/.bin/wrangler'"
exit 0
