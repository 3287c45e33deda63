from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Dict, FrozenSet, Mapping

#: Shown once by the API, and never by a print or a log.
_SECRET_FIELDS = frozenset({"secret", "account_number", "key"})


class ApiObject(Dict[str, Any]):
    """An object of the API. Its fields are attributes and keys alike: ``payment.status``, ``payment["status"]``."""

    #: Declared fields that an answer may leave out: as attributes they are None then.
    _optional: ClassVar[FrozenSet[str]] = frozenset()
    #: Fields that hold objects with such fields, and their classes: the others need none.
    _parts: ClassVar[Mapping[str, Any]] = {}

    if not TYPE_CHECKING:

        def __init__(self, *args: Any, **fields: Any) -> None:
            super().__init__(*args, **fields)
            for name, model in self._parts.items():
                if name in self:
                    self[name] = _as_model(model, self[name])

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                if name in self._optional:
                    return None
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


def _as_model(model: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_as_model(model, one) for one in value]
    return model(value) if isinstance(value, dict) else value
