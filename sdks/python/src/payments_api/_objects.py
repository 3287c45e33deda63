from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

#: Shown once by the API, and never by a print or a log.
_SECRET_FIELDS = frozenset({"secret", "account_number", "key"})


class ApiObject(Dict[str, Any]):
    """An object of the API. Its fields are attributes and keys alike: ``payment.status``, ``payment["status"]``."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __repr__(self) -> str:
        parts = [
            f"{name}={'…' if name in _SECRET_FIELDS else repr(value)}"
            for name, value in self.items()
            if name.isidentifier()
        ]
        # Keys of metadata may be any text.
        others = {name: value for name, value in self.items() if not name.isidentifier()}
        if others:
            parts.append(f"**{others!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    __str__ = __repr__
