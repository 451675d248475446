"""Which file an import means: one resolver over all languages, one module per family of rules."""
