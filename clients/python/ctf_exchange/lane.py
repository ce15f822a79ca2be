"""Order messages: a private socket takes what the HTTP routes of orders take, and answers the same."""
from __future__ import annotations

import json
import queue
import threading
from base64 import urlsafe_b64decode
from typing import Any, Mapping, Optional, Protocol, Set, Tuple

import socketio

from .errors import ExchangeError
from .transport import error_of

#: The name and the payload of the message that does what a request does.
Message = Tuple[str, Mapping[str, Any]]
FIRST_REFUSAL = 400
ANSWER_SECONDS_MAX = 5.0


class OrderSocket(Protocol):
    def ask(self, message: Message, token: str) -> Optional[Mapping[str, Any]]:
        """The acknowledgement; None when the connection is down or another wallet's. Raises ExchangeError."""


class Lane:
    """The order messages of one connection. Those without an answer fail when it ends, and it takes no more."""

    def __init__(self, socket: Any, connection: int) -> None:
        self.connection = connection
        self._socket = socket
        self._lock = threading.Lock()
        self._waiting: Set["queue.SimpleQueue[Any]"] = set()
        self._is_over = False

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            for answer in self._waiting:
                answer.put(None)

    def ask(self, message: Message) -> Optional[Mapping[str, Any]]:
        """The acknowledgement; None when nothing was sent."""
        event, payload = message
        answer: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        with self._lock:
            if self._is_over:
                return None
            self._waiting.add(answer)
        what = "the connection closed"
        try:
            self._socket.emit(event, dict(payload), callback=lambda *body: answer.put(body[0] if body else None))
            ack: Optional[Mapping[str, Any]] = answer.get(timeout=ANSWER_SECONDS_MAX)
        except (socketio.exceptions.SocketIOError, OSError):
            # It is no longer connected.
            return None
        except queue.Empty:
            what, ack = f"{ANSWER_SECONDS_MAX:g} s passed", None
        finally:
            with self._lock:
                self._waiting.discard(answer)
        if ack is None:
            # Other messages would wait in vain: they go by HTTP until there is another connection.
            self.end()
            raise ExchangeError("NETWORK", f"{what} without an acknowledgement of {event}: its outcome is unknown")
        return ack


def answer_of(ack: Mapping[str, Any]) -> Any:
    """The body of an acknowledgement; raises the refusal in it, as HTTP does."""
    if ack["status"] < FIRST_REFUSAL:
        return ack["body"]
    raise error_of(ack["status"], ack["body"], str(ack.get("headers", {}).get("Retry-After", "0")))


def owner_of(token: str) -> str:
    """The wallet of an access token; an API key stands for itself."""
    try:
        claims = token.split(".")[1]
        return str(json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["sub"])
    except (IndexError, KeyError, TypeError, ValueError):
        return token
