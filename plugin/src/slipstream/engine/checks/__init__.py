"""Checks that gates run: each looks at behaviour or at built output and returns findings, with the standard library only."""
