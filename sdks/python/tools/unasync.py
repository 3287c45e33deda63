"""Makes the synchronous client from the asynchronous one: one text, so that the two never differ.

    python3 tools/unasync.py          writes src/payments_api/_sync
    python3 tools/unasync.py --check  fails where it would change something
"""

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "payments_api"
NOTE = '# Made from _async by tools/unasync.py: change it there.\n'

REPLACEMENTS = [
    (r"\n    # async only: begin\n.*?# async only: end\n", ""),
    (r"\basync def\b", "def"),
    (r"\basync for\b", "for"),
    (r"\basync with\b", "with"),
    (r"\bawait ", ""),
    (r"\basync_(?=stream_events|events_since)", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\bThreadIo\b", "BlockingIo"),
    (r"\bThreadStream\b", "Stream"),
    (r"from \.\._threads import", "from .._blocking import"),
    (r"\bIterator, Callable, Iterator\b", "Callable, Iterator"),
    (r"from typing import Any, Iterator, Callable, Generator, Generic,", "from typing import Any, Callable, Generic, Iterator,"),
    (r"\b__aiter__\b", "__iter__"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
]


def to_sync(text: str) -> str:
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL if ".*?" in pattern else 0)
    return NOTE + text


def main() -> int:
    changed = []
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        if source.name == "__init__.py":
            continue
        target = PACKAGE / "_sync" / source.name
        made = to_sync(source.read_text("utf-8"))
        if not target.exists() or target.read_text("utf-8") != made:
            changed.append(target.name)
            if "--check" not in sys.argv:
                target.write_text(made, "utf-8")
    if changed and "--check" in sys.argv:
        print(f"Not fresh, run python3 tools/unasync.py: {', '.join(changed)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
