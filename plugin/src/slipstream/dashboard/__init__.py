"""The local live page: server, launch, static files."""
