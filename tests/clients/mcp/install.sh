#!/usr/bin/env bash
# install.sh DIR: puts the official MCP clients under DIR; prints the exports that tests/clients needs, for `eval`.
# Each install is tried three times; one that fails is left out and said so on standard error.
set -u
folder=$1
try() {
  local turn
  for turn in 1 2 3; do "$@" >"$folder/install.log" 2>&1 && return 0; sleep "$turn"; done
  echo "mcp clients: not installed: $*" >&2
  return 1
}
mkdir -p "$folder/node"
if try python3 -m venv "$folder/mcp2" && try "$folder/mcp2/bin/pip" install -q 'mcp>=2,<3' mcp-types; then
  echo "export SLIPSTREAM_MCP2_PYTHON='$folder/mcp2/bin/python'"
fi
if try python3 -m venv "$folder/mcp1" && try "$folder/mcp1/bin/pip" install -q 'mcp<2'; then
  echo "export SLIPSTREAM_MCP1_PYTHON='$folder/mcp1/bin/python'"
fi
cd "$folder/node" || exit 1
echo '{"private": true}' >package.json
if try npm install --no-audit --no-fund --engine-strict=false @modelcontextprotocol/sdk @modelcontextprotocol/inspector@2 node@22; then
  echo "export SLIPSTREAM_MCP_NODE='$folder/node'"
fi
