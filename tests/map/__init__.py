"""Tests of the project map."""
