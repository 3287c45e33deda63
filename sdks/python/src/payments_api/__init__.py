"""The Payments API: create, follow and verify payments. Standard library only."""

from ._async.client import AsyncPayments
from ._async.pagination import AsyncPaged
from ._errors import (
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    FieldError,
    InvalidRequestError,
    NotFoundError,
    PaymentsError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    SignatureInvalidError,
    UnexpectedStatusError,
    WaitTimeoutError,
)
from ._settings import RequestInfo, ResponseInfo
from ._sync.client import Payments
from ._sync.pagination import Paged
from ._version import API_VERSION, VERSION
from ._webhooks import Webhooks, webhooks

__version__ = VERSION

__all__ = [
    "API_VERSION",
    "VERSION",
    "AsyncPaged",
    "AsyncPayments",
    "AuthenticationError",
    "ConflictError",
    "ConnectionFailedError",
    "FieldError",
    "InvalidRequestError",
    "NotFoundError",
    "Paged",
    "Payments",
    "PaymentsError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestInfo",
    "ResponseInfo",
    "ServerError",
    "SignatureInvalidError",
    "UnexpectedStatusError",
    "WaitTimeoutError",
    "Webhooks",
    "webhooks",
]
