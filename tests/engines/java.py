"""Java, which Hadoop and Spark need, and how to start it quickly."""

from __future__ import annotations

import shutil
from typing import Optional

QUICK_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Short lives on few cores: one thread to collect garbage, and no time for the best machine code."""

OPEN_JAVA = "--add-opens=java.base/java.lang=ALL-UNNAMED"
"""Hadoop's web pages need classes that Java 17 no longer shows by itself."""


def missing_java() -> Optional[str]:
    """Why there is no Java, if there is none."""
    return None if shutil.which("java") else "there is no java on PATH"
