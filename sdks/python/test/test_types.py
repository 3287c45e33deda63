import ast
import importlib
import unittest
from pathlib import Path
from typing import get_args

import payments_api
from payments_api import types

PACKAGE = Path(payments_api.__file__).parent


def imported(tree):
    """The names that a module imports, each as often as it does."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    yield from importlib.import_module(f"payments_api.{node.module}").__all__
                else:
                    yield alias.asname or alias.name


class Types(unittest.TestCase):
    def test_single(self):
        """A name is imported once: Pyright takes an alias of a type that comes twice for a variable, and its type for unknown."""
        for path in sorted(PACKAGE.rglob("*.py")):
            names = list(imported(ast.parse(path.read_text("utf-8"))))
            twice = sorted({name for name in names if names.count(name) > 1})
            self.assertEqual(twice, [], path.name)

    def test_events(self):
        """Each type of event is one of a payment, of a payment method or of an endpoint, as its name begins."""
        kinds = {
            "payment": types.PaymentEventType,
            "payment_method": types.PaymentMethodEventType,
            "webhook_endpoint": types.WebhookEndpointEventType,
        }
        for kind, choice in kinds.items():
            wanted = [one for one in get_args(types.EventType) if one.split(".")[0] == kind]
            self.assertEqual(list(get_args(choice)), wanted)
        self.assertEqual(sum(len(get_args(one)) for one in kinds.values()), len(get_args(types.EventType)))

    def test_instances(self):
        """An event is an instance of its class, also one of a type that was not there when this client was made."""
        event = types.Event({"id": "evt_1", "type": "dispute.opened"})
        self.assertIsInstance(event, types.WebhookEvent)
        self.assertEqual((event.id, event.type), ("evt_1", "dispute.opened"))
