"""One small module per hook event."""
