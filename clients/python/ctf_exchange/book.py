"""One market's book kept in step, as docs/use/real-time.md says. It has no socket: live.py feeds it and does what it asks."""
from __future__ import annotations

import threading
import time
import zlib
from collections import Counter
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

CHECKSUM_LEVELS = 25
#: A heartbeat comes every 5 s.
SILENCE_SECONDS_MAX = 12.0
#: The longest time from an answer to the book that it promised.
CATCH_UP_SECONDS_MAX = 3.0
HEAL_PAUSE = 0.25
HEAL_PAUSE_MAX = 4.0
#: After this time in step, the next fault counts as the first again.
HEALTHY_SECONDS = 10.0
LIVE, STALE, RECONNECTING = "live", "stale", "reconnecting"

Level = Tuple[str, str]


def checksum_of(sequence: int, bids: List[Level], asks: List[Level]) -> str:
    def text(side: List[Level]) -> str:
        return ",".join(f"{price}:{size}" for price, size in side[:CHECKSUM_LEVELS])

    return f"{zlib.crc32(f'{sequence}|b:{text(bids)}|a:{text(asks)}'.encode()):08x}"


class BookView(NamedTuple):
    """A book at one moment; best first."""

    state: str
    sequence: Optional[int]
    bids: List[Level]
    asks: List[Level]
    checksum: str


class Book:
    """The Yes book, and whether it can be trusted now: quote by it only while `state` is `live`. Any thread may read it.

    `on_state` and `on_change` are called through `deliver`, and see the book as it is by then: several changes may be one call.
    """

    def __init__(
        self,
        condition_id: str,
        ask: Callable[["Book", Optional[Dict[str, Any]]], None],
        clock: Callable[[], float] = time.monotonic,
        deliver: Callable[[str, Callable[[], None]], None] = lambda _, call: call(),
    ) -> None:
        self.condition_id = condition_id
        #: How often each kind of fault was noticed.
        self.faults: Counter[str] = Counter()
        self.on_state: Callable[[str, str], None] = lambda state, why: None
        self.on_change: Callable[[], None] = lambda: None
        self._sequence: Optional[int] = None
        self._sides: Dict[str, Dict[str, str]] = {"bids": {}, "asks": {}}
        self._ask = ask
        self._clock = clock
        self._deliver = deliver
        self._lock = threading.RLock()
        self._state = RECONNECTING
        self._epoch: Optional[str] = None
        self._needs_snapshot = True
        self._connected = False
        self._question = 0
        self._is_asked = False
        self._target: Optional[int] = None
        self._promised_at = self._heard_at = self._live_since = clock()
        self._ask_at: Optional[float] = None
        self._heals = 0
        self._is_change_due = False

    @property
    def state(self) -> str:
        """`live`, `stale` or `reconnecting`, by the clock of this moment: it needs no thread that is alive."""
        state = self._state
        return STALE if state == LIVE and self._clock() - self._heard_at > SILENCE_SECONDS_MAX else state

    @property
    def sequence(self) -> Optional[int]:
        return self._sequence

    def view(self) -> BookView:
        """Everything of one moment."""
        with self._lock:
            return BookView(self.state, self._sequence, self.levels("bids"), self.levels("asks"), self.checksum())

    def levels(self, side: str) -> List[Level]:
        """Best first; `side` is bids or asks."""
        with self._lock:
            found = list(self._sides[side].items())
        return sorted(found, key=lambda level: float(level[0]), reverse=side == "bids")

    def best(self, side: str) -> Optional[str]:
        levels = self.levels(side)
        return levels[0][0] if levels else None

    def checksum(self) -> str:
        with self._lock:
            return checksum_of(self._sequence or 0, self.levels("bids"), self.levels("asks"))

    # Events. The thread that calls `connected`, `disconnected` and `tick` is one, and may be another than that of the messages.

    def connected(self) -> None:
        with self._lock:
            self._connected = True
            since = self._begin_question()
        self._ask(self, since)

    def disconnected(self, why: str) -> None:
        with self._lock:
            self._connected = self._is_asked = False
            self._target = self._ask_at = None
            self._question += 1
            self._enter(RECONNECTING, why)

    def answered(self, question: int, since: Optional[Mapping[str, Any]], ack: Mapping[str, Any]) -> None:
        with self._lock:
            if question != self._question:
                return
            self._is_asked = False
            self._heard_at = self._clock()
            if not ack.get("ok"):
                error = ack.get("error", {})
                # A refused request is not repeated unchanged.
                self._needs_snapshot = self._needs_snapshot or error.get("code") == "INVALID_REQUEST"
                self._heal("refused", f"{error.get('code')}: {error.get('detail')}")
                return
            sequence = ack["subscribed"][0]["sequence"]
            epoch = ack.get("epoch")
            if since is not None and (sequence < since["lastSequence"] or epoch != since["epoch"]):
                # The exchange may have lost its latest writes: a snapshot follows.
                self._needs_snapshot = True
            self._epoch, self._target, self._promised_at = epoch, sequence, self._clock()
            self._settle()

    def snapshot(self, body: Mapping[str, Any]) -> None:
        with self._lock:
            self._heard_at = self._clock()
            self._sides = {side: {one["price"]: one["size"] for one in body[side]} for side in ("bids", "asks")}
            self._sequence = body["sequence"]
            if self.checksum() != body["checksum"]:
                self._needs_snapshot = True
                self._heal("snapshot", "the checksum of a snapshot does not fit")
                return
            self._needs_snapshot = False
            if not self._is_asked and self._target is None:
                self._target = self._sequence
            self._settle()
            self._change()

    def update(self, body: Mapping[str, Any]) -> None:
        with self._lock:
            self._heard_at = self._clock()
            local = self._sequence
            if local is None or self._needs_snapshot or body["sequence"] <= local:
                return
            if body["previousSequence"] > local:
                self._heal("gap", f"updates after {local} are missing")
                return
            for side, changes in body["changes"].items():
                for price, size in changes:
                    if size == "0":
                        self._sides[side].pop(price, None)
                    else:
                        self._sides[side][price] = size
            self._sequence = body["sequence"]
            if self.checksum() != body["checksum"]:
                self._needs_snapshot = True
                self._heal("checksum", "the checksum does not fit")
                return
            self._settle()
            self._change()

    def heartbeat(self, sequence: int) -> None:
        with self._lock:
            self._heard_at = self._clock()
            if self._state == LIVE and self._sequence is not None and sequence > self._sequence:
                self._heal("behind", f"updates up to {sequence} are missing")

    def epoch(self, name: str) -> None:
        with self._lock:
            # The pending answer may be of the previous history.
            if self._connected and (self._is_asked or name != self._epoch):
                self._needs_snapshot = True
                self._heal("epoch", "the exchange has another epoch")

    def tick(self) -> None:
        """To be called every half second or so."""
        with self._lock:
            if not self._notice():
                return
            since = self._begin_question()
        # The lock is free while the request is sent.
        self._ask(self, since)

    def _notice(self) -> bool:
        """Notices what did not happen in time; whether the exchange is to be asked now."""
        now = self._clock()
        if not self._connected:
            return False
        if self._ask_at is not None:
            return now >= self._ask_at
        if self._is_asked:
            if now - self._promised_at > CATCH_UP_SECONDS_MAX:
                self._heal("unanswered", "no answer came")
        elif self._state == LIVE:
            if now - self._live_since > HEALTHY_SECONDS:
                self._heals = 0
            if now - self._heard_at > SILENCE_SECONDS_MAX:
                self._heal("silence", "neither an update nor a heartbeat came")
        elif now - self._promised_at > CATCH_UP_SECONDS_MAX:
            self._needs_snapshot = True
            self._heal("unkept", "the promised book did not come")
        return False

    # The effects of events

    def _begin_question(self) -> Optional[Dict[str, Any]]:
        self._ask_at = self._target = None
        self._question += 1
        self._is_asked = True
        self._promised_at = self._clock()
        known = self._sequence is not None and self._epoch is not None and not self._needs_snapshot
        return {"lastSequence": self._sequence, "epoch": self._epoch} if known else None

    @property
    def question(self) -> int:
        return self._question

    def _settle(self) -> None:
        local, target = self._sequence, self._target
        if not self._needs_snapshot and local is not None and target is not None and local >= target:
            self._enter(LIVE, "in step")

    def _heal(self, fault: str, why: str) -> None:
        self.faults[fault] += 1
        pause = min(HEAL_PAUSE * 2**self._heals, HEAL_PAUSE_MAX) if self._heals else 0.0
        self._heals += 1
        self._is_asked = False
        self._target = None
        self._enter(STALE, why)
        self._ask_at = self._clock() + pause

    def _enter(self, state: str, why: str) -> None:
        if state == self._state:
            return
        self._state = state
        self._live_since = self._clock()
        self._deliver("on_state", lambda: self.on_state(state, why))

    def _change(self) -> None:
        if not self._is_change_due:
            self._is_change_due = True
            self._deliver("on_change", self._call_on_change)

    def _call_on_change(self) -> None:
        self._is_change_due = False
        self.on_change()
