"""Token budget, transcript usage, savings, read guard."""
