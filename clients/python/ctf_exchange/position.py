"""How far a wallet's private events have come, over all connections."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

NEW, KNOWN, MISSING = "new", "known", "missing"


class Position:
    def __init__(self) -> None:
        self._last: Optional[int] = None
        self._epoch: Optional[str] = None
        self._epoch_now: Optional[str] = None

    def resume(self) -> Dict[str, Any]:
        """For the handshake: what the exchange is to resume behind; None asks where the events begin."""
        return {"lastAccountSequence": self._last, **({} if self._epoch is None else {"epoch": self._epoch})}

    def epoch(self, name: str) -> None:
        """Of the history that the exchange has now."""
        self._epoch_now = name
        self._epoch = self._epoch or name

    def begin(self, account_sequence: int) -> None:
        self._last = account_sequence
        self._epoch = self._epoch_now

    def take(self, event: Mapping[str, Any]) -> str:
        """Whether the event is new, or known, or others are missing before it."""
        sequence, previous = event.get("accountSequence"), event.get("previousAccountSequence")
        # An exchange that does not number them.
        if sequence is None or previous is None:
            return NEW
        if self._last is not None and sequence <= self._last:
            return KNOWN
        if self._last is not None and previous > self._last:
            return MISSING
        self._last = sequence
        return NEW
