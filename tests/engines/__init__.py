"""Real engines on loopback: installed, started, used, hurt and ended by tests."""
