"""One Socket.IO connection over a WebSocket, in the frames of docs/use/real-time.md. Messages are handled in the order in which they came."""
from __future__ import annotations

import json
import queue
import struct
import threading
from base64 import urlsafe_b64decode
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Tuple

import websocket

from .errors import ExchangeError
from .transport import error_of

#: The name and the payload of the message that does what a request does.
Message = Tuple[str, Mapping[str, Any]]
FIRST_REFUSAL = 400
ANSWER_SECONDS_MAX = 5.0
CONNECT_SECONDS_MAX = 5.0
CLOSE_SECONDS_MAX = 1.0
#: By RFC 6455: a close frame without a code.
NO_STATUS = 1005
FAILURES = (websocket.WebSocketException, OSError)


class OrderSocket(Protocol):
    def ask(self, message: Message, token: str) -> Optional[Mapping[str, Any]]:
        """The acknowledgement; None when the connection is down or another wallet's. Raises ExchangeError."""


class Refused(Exception):
    """The exchange refused the connection, or there is none: `code` and `detail`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Connection:
    """`receive` gets each event and its body from the thread that calls `read`. Raises Refused when it cannot be opened."""

    def __init__(self, base_url: str, auth: Optional[Mapping[str, Any]], receive: Callable[["Connection", str, Any], None]) -> None:
        self.is_over = threading.Event()
        #: Why it ended: the code of the WebSocket's close frame, when there was one, and a text.
        self.code: Optional[int] = None
        self.reason = ""
        self._receive = receive
        self._lock = threading.Lock()
        self._answers: Dict[int, Callable[[Any], None]] = {}
        self._numbers = 0
        self._is_closed = False
        # The path of the base URL stands before the one of Socket.IO.
        url = f"ws{base_url[len('http'):]}/socket.io/?EIO=4&transport=websocket"
        try:
            self._socket = websocket.create_connection(url, timeout=CONNECT_SECONDS_MAX, enable_multithread=True)
        except FAILURES as error:
            raise Refused("NETWORK", str(error) or type(error).__name__) from error
        try:
            self._open(auth)
        except (*FAILURES, ValueError) as error:
            self._socket.shutdown()
            raise Refused("NETWORK", self.reason or str(error) or type(error).__name__) from error
        except Refused:
            self._socket.shutdown()
            raise

    def _open(self, auth: Optional[Mapping[str, Any]]) -> None:
        settings = json.loads(self._next()[1:])
        self._socket.send("40" + ("" if auth is None else json.dumps(auth)))
        frame = self._next()
        while not frame.startswith("4"):
            self._pong(frame)
            frame = self._next()
        if not frame.startswith("40"):
            refusal = json.loads(frame[2:] or "{}")
            data = refusal.get("data") or {}
            raise Refused(str(data.get("code", "REFUSED")), str(data.get("detail", refusal.get("message", frame))))
        self._socket.settimeout((settings["pingInterval"] + settings["pingTimeout"]) / 1_000)

    def read(self) -> None:
        """Handles messages until the connection ends."""
        try:
            while not self._is_closed:
                frame = self._next()
                if frame.startswith("42"):
                    event, *body = json.loads(frame[2:])
                    self._receive(self, event, body[0] if body else None)
                elif frame.startswith("43"):
                    number, bracket, body = frame[2:].partition("[")
                    with self._lock:
                        answered = self._answers.pop(int(number), None)
                    if answered is not None:
                        found = json.loads(bracket + body)
                        answered(found[0] if found else None)
                elif frame.startswith(("41", "1")):
                    # The close frame with its code follows.
                    self.reason = self.reason or "the exchange closed the connection"
                    self._socket.settimeout(CLOSE_SECONDS_MAX)
                else:
                    self._pong(frame)
        except websocket.WebSocketTimeoutException:
            self.close("the exchange has stopped sending")
        except FAILURES as error:
            self.close(str(error) or type(error).__name__)
        except Exception as error:
            self.close(f"a message could not be handled: {type(error).__name__}: {error}")
            raise
        finally:
            self.close("the connection ended")
            self._socket.shutdown()
            self.is_over.set()

    def _next(self) -> str:
        opcode, data = self._socket.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            self.code = struct.unpack("!H", data[:2])[0] if len(data) >= 2 else NO_STATUS
            self.reason = self.reason or data[2:].decode(errors="replace") or "the exchange closed the connection"
            raise websocket.WebSocketConnectionClosedException(self.reason)
        return str(data.decode())

    def _pong(self, frame: str) -> None:
        if frame == "2":
            self._socket.send("3")

    def emit(self, event: str, body: Any, answered: Optional[Callable[[Any], None]] = None) -> bool:
        """False when nothing was sent. `answered` gets the acknowledgement, or None when the connection ends before."""
        number = ""
        with self._lock:
            if self._is_closed:
                return False
            if answered is not None:
                self._numbers += 1
                number = str(self._numbers)
                self._answers[self._numbers] = answered
        try:
            self._socket.send(f"42{number}{json.dumps([event, body])}")
        except FAILURES as error:
            # Part of a frame at most was sent, which the exchange cannot read.
            with self._lock:
                self._answers.pop(int(number or 0), None)
            self.close(str(error) or type(error).__name__)
            return False
        return True

    def ask(self, message: Message) -> Optional[Mapping[str, Any]]:
        """The acknowledgement; None when nothing was sent. Raises ExchangeError when it does not come."""
        event, payload = message
        answer: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        if not self.emit(event, dict(payload), answer.put):
            return None
        what = "the connection closed"
        try:
            ack: Optional[Mapping[str, Any]] = answer.get(timeout=ANSWER_SECONDS_MAX)
        except queue.Empty:
            what, ack = f"{ANSWER_SECONDS_MAX:g} s passed", None
        if ack is None:
            # Other messages would wait in vain: they go by HTTP until there is another connection.
            self.close(f"{what} without an acknowledgement of {event}")
            raise ExchangeError("NETWORK", f"{what} without an acknowledgement of {event}: its outcome is unknown")
        return ack

    def close(self, why: str) -> None:
        """From any thread; the first reason is kept."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self.reason = self.reason or why
            waiting = list(self._answers.values())
            self._answers.clear()
        for answered in waiting:
            answered(None)
        try:
            # Wakes the thread that reads.
            self._socket.abort()
        except FAILURES:
            pass


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
