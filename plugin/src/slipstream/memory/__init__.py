"""Facts, recall, digests, observations, search, lessons."""
