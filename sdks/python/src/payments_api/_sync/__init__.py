"""Made from ``_async`` by ``tools/unasync.py``."""
