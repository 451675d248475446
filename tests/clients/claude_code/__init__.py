"""Runs a plugin inside the real Claude Code client, offline, against a scripted conversation."""
