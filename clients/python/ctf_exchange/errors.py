"""The refusals of the exchange, and the failures on the way to it."""
from __future__ import annotations

from typing import Any, Mapping, Optional


#: Refusals which state that nothing was done, although their status is 5xx.
REFUSED = ("CANCEL_ONLY", "HALTED", "BACKLOG")
REQUEST_TIMEOUT = 408
TOO_MANY = 429
SERVER_ERROR = 500


class ExchangeError(Exception):
    """`code` is that of docs/use/errors.md, or NETWORK (no answer), NOT_SIGNED_IN or OUTCOME_UNKNOWN."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 0,
        problem: Optional[Mapping[str, Any]] = None,
        retry_after: float = 0.0,
        signed: Optional[Mapping[str, Any]] = None,
        was_sent: bool = True,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        #: 0 without an answer.
        self.status = status
        #: The whole problem, with its other members: `cancelled`, a list, and `sequences`, a mapping, say what was cancelled
        #: although one of several shards did not answer.
        self.problem: Mapping[str, Any] = problem or {}
        #: Seconds.
        self.retry_after = retry_after
        #: For OUTCOME_UNKNOWN: the signed body, which may be sent again at any time.
        self.signed = signed
        #: False when the request was not sent, so that nothing of it can have happened: no connection, no sign-in.
        self.was_sent = was_sent

    @property
    def is_worth_another(self) -> bool:
        """Whether the same request may be answered another time: no answer, 5xx, or a limit."""
        if self.status == 0:
            return self.code != "NOT_SIGNED_IN"
        # Another refusal that is `retryable` waits for the market or the wallet, which may take any time.
        passes = self.status >= SERVER_ERROR or self.status in (REQUEST_TIMEOUT, TOO_MANY)
        return passes and bool(self.problem.get("retryable", self.status >= SERVER_ERROR))

    @property
    def is_outcome_unknown(self) -> bool:
        """Whether what was asked for may have happened."""
        if not self.was_sent or self.code == "NOT_SIGNED_IN":
            return False
        if self.status == 0:
            return True
        return self.status == REQUEST_TIMEOUT or (self.status >= SERVER_ERROR and self.code not in REFUSED)
