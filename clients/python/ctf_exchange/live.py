"""Live books and the wallet's own events over Socket.IO; the connection comes back by itself, with a good token."""
from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import socketio

from .book import Book
from .client import Client
from .errors import ExchangeError
from .lane import Lane, Message, owner_of
from .position import MISSING, NEW, Position

TICK_SECONDS = 0.25
CONNECT_SECONDS_MAX = 5.0
PAUSE_SECONDS = 0.25
PAUSE_SECONDS_MAX = 2.0
BOOK_EVENTS = ("orderbook:snapshot", "orderbook:update", "heartbeat", "epoch")
OTHER_EVENTS = ("trade:new", "ticker:update", "market:new", "market:update", "exchange:update", "account:resumed")
PRIVATE_EVENTS = ("order:update", "trade:update", "balance:update")
SESSION_EVENTS = ("session:expiring", "session:ended", "connect_error", "disconnect")

Handler = Callable[[Any], None]


class Live:
    """Every handler is called by one thread, the one that keeps the books."""

    def __init__(
        self,
        client: Client,
        *,
        private: bool = True,
        cancel_on_disconnect: bool = False,
        account_events: bool = True,
    ) -> None:
        self._account_events = account_events
        self._client = client
        self._private = private
        self._cancel_on_disconnect = cancel_on_disconnect
        self._books: Dict[str, Book] = {}
        self._asked: set[str] = set()
        self._handlers: Dict[str, List[Handler]] = {}
        self._inbox: "queue.Queue[Tuple[int, str, Any]]" = queue.Queue()
        self._connection = 0
        self._socket: Any = None
        self._lane: Optional[Lane] = None
        self._token: Optional[str] = None
        self._refused: Optional[str] = None
        self._follows_markets = False
        self._position = Position()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ctf-exchange-live", daemon=True)
        #: The number of connections opened.
        self.connections = 0

    def watch(self, condition_id: str) -> Book:
        """Before `start`. The book heals by itself; `book.state` says whether to trust it."""
        book = Book(condition_id, self._subscribe)
        self._books[condition_id] = book
        return book

    def on(self, event: str, handler: Handler) -> None:
        """An event of docs/real-time.md, or `connect`. Private ones come once and in order, over all connections."""
        self._handlers.setdefault(event, []).append(handler)

    def watch_markets(self, on_new: Optional[Handler] = None, on_change: Optional[Handler] = None) -> None:
        """Before `start`. New markets and every change of one; after a `connect` read the list, nothing is sent again."""
        self._follows_markets = True
        for event, handler in (("market:new", on_new), ("market:update", on_change)):
            if handler is not None:
                self.on(event, handler)

    def start(self) -> None:
        self._thread.start()

    def ask(self, message: Message, token: str) -> Optional[Mapping[str, Any]]:
        """For `client.use_socket`: sends an order message; None when the connection is down or another wallet's."""
        lane = self._lane
        if lane is None or self._token is None or owner_of(self._token) != owner_of(token):
            return None
        try:
            return lane.ask(message)
        except ExchangeError:
            # The connection is replaced; until then orders go by HTTP.
            self._inbox.put((lane.connection, "disconnect", None))
            raise

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(2 * CONNECT_SECONDS_MAX)

    # The thread

    def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not self._closed.is_set():
            if self._connect():
                pause = PAUSE_SECONDS
                self._serve()
            self._closed.wait(pause)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)
        self._drop()

    def _connect(self) -> bool:
        self._drop()
        try:
            self._token = self._client.token(self._refused) if self._private else None
        except ExchangeError:
            return False
        auth: Dict[str, Any] = {}
        if self._token is not None:
            auth = {"token": self._token, **(self._position.resume() if self._account_events else {"accountEvents": False})}
            if self._cancel_on_disconnect:
                auth["cancelOnDisconnect"] = True
        # It would reconnect with its old token, and not at all after the exchange has closed it.
        self._socket = socketio.Client(reconnection=False, handle_sigint=False)
        self._connection += 1
        lane = Lane(self._socket, self._connection)
        for event in BOOK_EVENTS + OTHER_EVENTS + PRIVATE_EVENTS + SESSION_EVENTS:
            self._socket.on(event, self._receiver(lane, event))
        try:
            self._socket.connect(
                self._client.base_url, auth=auth, transports=["websocket"], wait_timeout=CONNECT_SECONDS_MAX
            )
        except (socketio.exceptions.SocketIOError, OSError, ValueError):
            self._learn_refusal()
            return False
        self.connections += 1
        self._lane = lane
        self._asked.clear()
        if self._follows_markets:
            self._emit("subscribe", {"markets": True})
        for book in self._books.values():
            book.connected()
        self._tell("connect", None)
        return True

    def _receiver(self, lane: Lane, event: str) -> Callable[..., None]:
        def receive(*body: Any) -> None:
            if event == "disconnect":
                # At once: this client's thread may be in a handler that waits for an answer.
                lane.end()
            self._inbox.put((lane.connection, event, body[0] if body else None))

        return receive

    def _serve(self) -> None:
        """Until the connection ends."""
        next_tick = time.monotonic()
        while not self._closed.is_set():
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + TICK_SECONDS
                for book in self._books.values():
                    book.tick()
            try:
                connection, event, body = self._inbox.get(timeout=TICK_SECONDS)
            except queue.Empty:
                if not self._socket.connected:
                    break
                continue
            if connection != self._connection:
                continue
            if event == "disconnect":
                break
            self._happen(event, body)
        if self._lane is not None:
            self._lane.end()
        for book in self._books.values():
            book.disconnected("the connection was lost")

    def _happen(self, event: str, body: Any) -> None:
        if event in PRIVATE_EVENTS:
            taken = self._position.take(body)
            if taken == MISSING:
                # Another connection begins with them.
                self._inbox.put((self._connection, "disconnect", None))
            if taken != NEW:
                return
        book = self._books.get(body.get("conditionId", "")) if isinstance(body, dict) else None
        if event == "orderbook:snapshot" and book is not None:
            book.snapshot(body)
        elif event == "orderbook:update" and book is not None:
            book.update(body)
        elif event == "heartbeat" and book is not None:
            book.heartbeat(body["sequence"])
        elif event == "epoch":
            for one in self._books.values():
                one.epoch(body["epoch"])
        elif event == "exchange:update":
            self._position.epoch(body["epoch"])
        elif event == "account:resumed":
            self._position.begin(body["accountSequence"])
        elif event == "answer":
            followed, question, since, ack = body
            followed.answered(question, since, ack)
        elif event == "session:expiring":
            self._renew()
        elif event == "session:ended":
            self._refused = self._token
        self._tell(event, body)

    def _learn_refusal(self) -> None:
        """A token that was refused is not sent again."""
        while not self._inbox.empty():
            _, event, body = self._inbox.get()
            data = body.get("data", body) if isinstance(body, dict) else {}
            if event == "connect_error" and isinstance(data, dict) and str(data.get("code")).startswith("TOKEN_"):
                self._refused = self._token

    def _renew(self) -> None:
        """Another token on the same socket, so that nothing is interrupted."""
        try:
            token = self._client.token(self._token)
        except ExchangeError:
            return
        self._token = token
        self._emit("renew", {"token": token})

    def _emit(self, event: str, body: Any, callback: Optional[Handler] = None) -> None:
        try:
            self._socket.emit(event, body, callback=callback)
        except socketio.exceptions.SocketIOError:
            self._inbox.put((self._connection, "disconnect", None))

    def _subscribe(self, book: Book, since: Optional[Dict[str, Any]]) -> None:
        connection, question = self._connection, book.question

        def answer(ack: Any) -> None:
            self._inbox.put((connection, "answer", (book, question, since, ack)))

        # The exchange does not send the same snapshot again to a socket that follows a market.
        if since is None and book.condition_id in self._asked:
            self._emit("unsubscribe", {"conditionId": book.condition_id})
        self._asked.add(book.condition_id)
        self._emit("subscribe", {"conditionId": book.condition_id, **(since or {})}, answer)

    def _tell(self, event: str, body: Any) -> None:
        for handler in self._handlers.get(event, ()):
            handler(body)

    def _drop(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.disconnect()
        except Exception:  # noqa: BLE001: whatever a broken connection says, it is given up.
            pass
        self._socket = None
