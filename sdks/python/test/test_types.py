import ast
import unittest
from pathlib import Path

import payments_api
from payments_api import _api_types

PACKAGE = Path(payments_api.__file__).parent


def imported(tree):
    """The names that a module imports, each as often as it does."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield from _api_types.__all__ if alias.name == "*" else [alias.asname or alias.name]


class Types(unittest.TestCase):
    def test_single(self):
        """A name is imported once: Pyright takes an alias of a type that comes twice for a variable, and its type for unknown."""
        for path in sorted(PACKAGE.rglob("*.py")):
            names = list(imported(ast.parse(path.read_text("utf-8"))))
            twice = sorted({name for name in names if names.count(name) > 1})
            self.assertEqual(twice, [], path.name)
