"""slipstream: memory, scoped reads and observability under a coding agent."""
