"""Skill contract, loader and gates; plugin validation; editor setup."""
