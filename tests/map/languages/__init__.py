"""Tests of the language scanners."""
