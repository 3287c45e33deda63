"""Written by hand. The synchronous client in ``_sync`` is made from these files by ``tools/unasync.py``."""
