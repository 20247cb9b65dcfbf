"""Tests, which mirror lsh_core and jobs; oracles.py and strategies.py are what they share."""
