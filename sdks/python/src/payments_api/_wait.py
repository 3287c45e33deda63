from __future__ import annotations

from typing import Dict, Literal, Sequence, Tuple

from ._errors import UnexpectedStatusError
from .types import Payment, PaymentStatus

#: Where a payment may still go from each status; the three without a way on are final.
_REACHABLE: Dict[str, Tuple[str, ...]] = {
    "pending": ("processing", "completed", "failed", "canceled", "returned"),
    "processing": ("completed", "failed", "returned"),
    "completed": ("returned",),
    "failed": (),
    "canceled": (),
    "returned": (),
}


def judge(payment: Payment, wanted: Sequence[PaymentStatus]) -> Literal["there", "waiting", "pointless"]:
    """What a look at the payment tells somebody who waits for one of these statuses."""
    if payment.status in wanted:
        return "there"
    ahead = _REACHABLE.get(payment.status)
    # A status that this version does not know is no reason to give up.
    if ahead is None or any(status in ahead for status in wanted):
        return "waiting"
    # What is on its way or completed has been through the earlier ones, too fast to be seen. What ended badly never counts.
    passed = any(entry.status in wanted for entry in payment.timeline)
    return "there" if passed and ahead else "pointless"


def unexpected(payment: Payment, wanted: Sequence[PaymentStatus]) -> UnexpectedStatusError:
    failure = payment.failure
    why = "" if failure is None else f" ({failure.code}: {failure.detail})"
    message = f"Payment {payment.id} is {payment.status}{why} and will not become {' or '.join(wanted)}."
    return UnexpectedStatusError(message, payment)
