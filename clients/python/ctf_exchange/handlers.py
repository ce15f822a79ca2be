"""The user's handlers: called one after the other by a thread of their own, so that none can hold up the connection."""
from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import Callable, Deque, Tuple

logger = logging.getLogger("ctf_exchange")


class Handlers:
    """`on_error` gets the event and the exception of a handler that raises; the next one is called all the same."""

    def __init__(self, on_error: Callable[[str, Exception], None]) -> None:
        self._on_error = on_error
        #: The first call stays in it until it has returned.
        self._calls: Deque[Tuple[float, str, Callable[[], None]]] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self.thread = threading.Thread(target=self._run, name="ctf-exchange-handlers", daemon=True)

    def put(self, event: str, call: Callable[[], None]) -> None:
        with self._changed:
            if not self._is_stopped:
                self._calls.append((time.monotonic(), event, call))
                self._changed.notify()

    def lag(self) -> float:
        """For how many seconds the oldest event has not been handled; 0 when all are."""
        with self._changed:
            return time.monotonic() - self._calls[0][0] if self._calls else 0.0

    def stop(self) -> None:
        """Events that were not handled yet are dropped."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._calls or self._is_stopped)
                if self._is_stopped:
                    return
                _, event, call = self._calls[0]
            try:
                call()
            except Exception as error:
                self._report(event, error)
            with self._changed:
                self._calls.popleft()

    def _report(self, event: str, error: Exception) -> None:
        try:
            self._on_error(event, error)
        except Exception:
            logger.exception("on_error raised an exception")


def log_error(event: str, error: Exception) -> None:
    logger.error("a handler of %s raised an exception", event, exc_info=error)
