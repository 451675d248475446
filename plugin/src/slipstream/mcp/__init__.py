"""The MCP server: JSON-RPC over stdio and the tool table."""
