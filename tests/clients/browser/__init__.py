"""The page in a real browser: Chromium over its debugging protocol; skipped with a reason where there is none."""
