from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Type

from ._objects import ApiObject

if TYPE_CHECKING:
    from .types import Payment


class FieldError(ApiObject):
    """One bad field: ``pointer`` (RFC 6901) into the body, or ``parameter`` of the query or the headers."""

    pointer: Optional[str]
    parameter: Optional[str]
    code: str
    detail: str
    _optional = frozenset({"pointer", "parameter"})


class PaymentsError(Exception):
    """Everything that this package raises, apart from mistakes in calling it (TypeError, ValueError)."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        errors: Sequence[FieldError] = (),
        retryable: bool = False,
        retry_after: Optional[float] = None,
        problem: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The HTTP status; None where there was no answer.
        self.status = status
        #: One of the API's codes, or one of this package's own: ``connection_failed``, ``timeout`` …
        self.code = code
        #: Names this request in the server's log.
        self.request_id = request_id
        self.errors: List[FieldError] = list(errors)
        #: Whether the same request, sent again later, may succeed.
        self.retryable = retryable
        #: How many seconds the server asked to wait before that; None where it did not say.
        self.retry_after = retry_after
        #: The whole problem document, with whatever extra members it has.
        self.problem: Dict[str, Any] = dict(problem or {})

    def __reduce__(self) -> Tuple[Any, ...]:
        # An error crosses to another process by pickle, which by itself would call the constructor with the message alone.
        return _restore, (type(self), self.args, self.__dict__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, code={self.code!r}, status={self.status!r})"


def _restore(kind: Type[PaymentsError], args: Tuple[Any, ...], state: Mapping[str, Any]) -> PaymentsError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class AuthenticationError(PaymentsError):
    """401: no key, or one that is unknown, expired or revoked."""


class PermissionDeniedError(PaymentsError):
    """403: the key lacks the scope, or is of the other mode."""


class NotFoundError(PaymentsError):
    """404."""


class ConflictError(PaymentsError):
    """409: the object is not in a state that allows this, or the same key is being worked on."""


class InvalidRequestError(PaymentsError):
    """400, 422 and every other refusal of what was sent; ``errors`` names each bad field."""


class RateLimitError(PaymentsError):
    """429."""


class ServerError(PaymentsError):
    """5xx."""


class ConnectionFailedError(PaymentsError):
    """There was no answer, only a part of one, or none that this API gives."""


SignatureProblem = Literal[
    "missing_header", "bad_timestamp", "too_old", "too_new", "no_match", "bad_secret", "bad_body"
]


class SignatureInvalidError(PaymentsError):
    """A webhook that must not be believed."""

    def __init__(self, reason: SignatureProblem, message: str) -> None:
        super().__init__(message, code="signature_invalid")
        self.reason: SignatureProblem = reason


class WaitTimeoutError(PaymentsError):
    """The payment did not get there in time. It is unharmed: look again later."""

    def __init__(self, message: str, payment: Optional[Payment]) -> None:
        super().__init__(message, code="wait_timeout", retryable=True)
        #: As it was last seen; None where it never was.
        self.payment = payment


class UnexpectedStatusError(PaymentsError):
    """The payment went another way, and can never get there."""

    def __init__(self, message: str, payment: Payment) -> None:
        super().__init__(message, code="unexpected_status")
        self.payment = payment


_CLASSES: Dict[int, Type[PaymentsError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_class_of(status: int) -> Type[PaymentsError]:
    """The class for a status that is not a success."""
    exact = _CLASSES.get(status)
    if exact is not None:
        return exact
    if status >= 500:
        return ServerError
    return InvalidRequestError if status >= 400 else ConnectionFailedError
