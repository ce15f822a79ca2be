"""What became of a signed order: the same one is sent again, has one hash, and is booked once."""
from __future__ import annotations

from time import monotonic
from typing import Any, Callable, Mapping, Optional, Sequence

from .errors import ExchangeError
from .transport import error_of, persist

#: A request is booked within this time of its sending, or never, as `GET /orders/{order_hash}` says.
LATEST_SECONDS = 5.0
#: These refusals never show what became of an earlier attempt.
SAYS_NOTHING = ("RATE_LIMITED", "BACKLOG")
UNAUTHORIZED = 401
UNKNOWN = "no answer says whether the order was booked; send the same signed order again"


def resolved(attempt: Callable[[], Any], signed: Mapping[str, Any], seconds: float) -> Any:
    """Sends until an answer is final. Raises ExchangeError: the refusal, or OUTCOME_UNKNOWN with `signed`.

    Once an attempt may have been booked, a refusal of another one says nothing about it, because it may still be on its way.
    Then only these are final: the order's record, the news that it was booked with another type, and a refusal of an attempt that
    was sent when no earlier one could be booked any more.
    """
    sent_at = 0.0
    doubtful_until: Optional[float] = None
    latest: Any = None

    def is_final(error: ExchangeError) -> bool:
        if error.is_outcome_unknown or (not error.was_sent and error.is_worth_another):
            return False
        if doubtful_until is None or error.code == "DUPLICATE_ORDER":
            return True
        # An error without the exchange's own document comes from this client, or from a proxy in between.
        says_nothing = not error.was_sent or not error.problem or error.status == UNAUTHORIZED or error.code in SAYS_NOTHING
        return not says_nothing and sent_at >= doubtful_until

    def note(refusals: Sequence[ExchangeError]) -> None:
        nonlocal doubtful_until
        if any(error.is_outcome_unknown for error in refusals):
            # An attempt may send its request late, behind the renewal of a session.
            doubtful_until = monotonic() + LATEST_SECONDS
        for error in refusals:
            if not is_final(error):
                raise error

    def noted() -> Any:
        nonlocal sent_at, latest
        sent_at = monotonic()
        try:
            latest = attempt()
        except ExchangeError as error:
            note([error])
            raise
        note([error_of(one["status"], one, "0") for one in latest.get("results", ()) if "order" not in one])
        return latest

    try:
        return persist(noted, lambda error: not is_final(error), seconds)
    except ExchangeError as error:
        # Without a doubtful attempt nothing was sent, so the order is not booked.
        if is_final(error) or doubtful_until is None:
            raise
        # Only some orders of a batch are answered, and no refusal among them is final.
        if latest is not None:
            return {**latest, "results": [_known(one) for one in latest["results"]]}
        detail = _unknown_after(error.status, error.code, error.detail)
        raise ExchangeError("OUTCOME_UNKNOWN", detail, problem=error.problem, signed=signed) from error


def _known(result: Mapping[str, Any]) -> Mapping[str, Any]:
    if "order" in result:
        return result
    detail = _unknown_after(result["status"], result["code"], result["detail"])
    return {**result, "code": "OUTCOME_UNKNOWN", "detail": detail}


def _unknown_after(status: int, code: str, detail: str) -> str:
    return f"{UNKNOWN} (last: {status or 'no answer'}, {code}, {detail})"
