"""The standard library put to work: paths, locks, files, text. Knows nothing of slipstream's subject."""
