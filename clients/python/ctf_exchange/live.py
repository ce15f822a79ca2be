"""Live books and the wallet's own events over Socket.IO; the connection comes back by itself, with a good token."""
from __future__ import annotations

import threading
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Optional

from . import checks
from .book import Book
from .client import Client
from .connection import Connection, Message, Refused, owner_of
from .errors import ExchangeError
from .handlers import Handlers, log_error, logger
from .position import MISSING, NEW, Position

TICK_SECONDS = 0.25
PAUSE_SECONDS = 0.25
PAUSE_SECONDS_MAX = 2.0
CLOSE_SECONDS_MAX = 10.0
HANDLER_SECONDS_MAX = 30.0
PRIVATE_EVENTS = ("order:update", "trade:update", "balance:update")
EVENTS = (
    *("orderbook:snapshot", "orderbook:update", "heartbeat", "epoch", "trade:new", "ticker:update", "market:new"),
    *("market:update", "exchange:update", "account:resumed", *PRIVATE_EVENTS, "session:expiring", "session:ended"),
    # Those of this client.
    *("connect", "connect_error", "disconnect"),
)

Handler = Callable[[Any], None]


class Live:
    """Books are kept, and pings answered, by one thread; every handler is called by another one, in the order of the events.

    A handler that raises is given to `on_error`, which logs it by default, and the next event is handled. While an event has not
    been handled for `handler_seconds_max`, there is no connection: the books are not `live`, and with `cancel_on_disconnect`
    the exchange cancels the orders 10 s later. The connection is opened again when all events are handled.
    """

    def __init__(
        self,
        client: Client,
        *,
        private: bool = True,
        cancel_on_disconnect: bool = False,
        account_events: bool = True,
        handler_seconds_max: float = HANDLER_SECONDS_MAX,
        on_error: Callable[[str, Exception], None] = log_error,
    ) -> None:
        for option, what in (
            (private, "private"),
            (cancel_on_disconnect, "cancel_on_disconnect"),
            (account_events, "account_events"),
        ):
            checks.choice(option, what, (False, True))
        if type(handler_seconds_max) not in (int, float) or not 0 < handler_seconds_max < float("inf"):
            raise checks.fail("handler_seconds_max", "a number of seconds", handler_seconds_max)
        if cancel_on_disconnect and not private:
            raise ValueError("cancel_on_disconnect needs a private connection")
        if private and not client.can_sign_in:
            raise ValueError("without a wallet or an API key, say private=False")
        self._account_events = account_events
        self._client = client
        self._private = private
        self._cancel_on_disconnect = cancel_on_disconnect
        self._handler_seconds_max = handler_seconds_max
        self._books: Dict[str, Book] = {}
        self._asked: set[str] = set()
        self._handlers: Dict[str, List[Handler]] = {}
        self._calls = Handlers(on_error)
        self._connection: Optional[Connection] = None
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
        self._not_started()
        checks.order_hash(condition_id, "the condition id")
        book = Book(condition_id, self._subscribe, deliver=self._calls.put)
        self._books[condition_id] = book
        return book

    def on(self, event: str, handler: Handler) -> None:
        """An event of docs/use/real-time.md; private ones come once and in order, over all connections. Or one of the connection:

        `connect`; `disconnect` with `{ code, reason }`, where `code` is that of the WebSocket's close frame or None; and
        `connect_error` with `{ code, detail }`.
        """
        checks.choice(event, "the event", EVENTS)
        if not callable(handler):
            raise checks.fail("the handler", "callable", handler)
        self._handlers.setdefault(event, []).append(handler)

    def watch_markets(self, on_new: Optional[Handler] = None, on_change: Optional[Handler] = None) -> None:
        """Before `start`. New markets and every change of one; after a `connect` read the list, nothing is sent again."""
        self._not_started()
        self._follows_markets = True
        for event, handler in (("market:new", on_new), ("market:update", on_change)):
            if handler is not None:
                self.on(event, handler)

    def start(self) -> None:
        self._calls.thread.start()
        self._thread.start()

    def ask(self, message: Message, token: str) -> Optional[Mapping[str, Any]]:
        """For `client.use_socket`: sends an order message; None when the connection is down or another wallet's."""
        connection = self._connection
        if connection is None or self._token is None or owner_of(self._token) != owner_of(token):
            return None
        return connection.ask(message)

    def close(self) -> None:
        """Also from a handler. Events that were not handled yet are dropped."""
        self._closed.set()
        self._calls.stop()
        if self._connection is not None:
            self._connection.close("the client was closed")
        for thread in (self._thread, self._calls.thread):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(CLOSE_SECONDS_MAX)

    def _not_started(self) -> None:
        if self._thread.ident is not None:
            raise RuntimeError("call it before start")

    # The thread that connects, and notices what does not happen

    def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not self._closed.is_set():
            try:
                connection = self._connect()
                pause = PAUSE_SECONDS
                self._keep(connection)
            except (ExchangeError, Refused) as error:
                if isinstance(error, Refused) and error.code.startswith("TOKEN_"):
                    # A token that was refused is not sent again.
                    self._refused = self._token
                self._notify("connect_error", {"code": error.code, "detail": error.detail})
            except Exception:
                # Code of the user, such as the signature of a contract wallet.
                logger.exception("the connection could not be opened")
            self._closed.wait(pause)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)

    def _connect(self) -> Connection:
        self._token = self._client.token(self._refused) if self._private else None
        auth: Optional[Dict[str, Any]] = None
        if self._token is not None:
            auth = {"token": self._token, **(self._position.resume() if self._account_events else {"accountEvents": False})}
            if self._cancel_on_disconnect:
                auth["cancelOnDisconnect"] = True
        connection = self._connection = Connection(self._client.base_url, auth, self._receive)
        self.connections += 1
        self._asked.clear()
        self._notify("connect", None)
        threading.Thread(target=connection.read, name="ctf-exchange-reader", daemon=True).start()
        if self._follows_markets:
            connection.emit("subscribe", {"markets": True})
        for book in self._books.values():
            book.connected()
        return connection

    def _keep(self, connection: Connection) -> None:
        """Until the connection ends, and no event waits for its handler."""
        while not connection.is_over.wait(TICK_SECONDS):
            for book in self._books.values():
                book.tick()
            if self._closed.is_set():
                connection.close("the client was closed")
            elif self._calls.lag() > self._handler_seconds_max:
                seconds = f"{self._handler_seconds_max:g} s"
                connection.close(f"an event was not handled within {seconds}: a handler takes too long")
        is_late = self._calls.lag() > self._handler_seconds_max
        why = connection.reason
        for book in self._books.values():
            book.disconnected(f"the connection was lost: {why}")
        self._notify("disconnect", {"code": connection.code, "reason": why})
        if is_late:
            logger.error("the connection was closed: %s", why)
            while self._calls.lag() > 0 and not self._closed.is_set():
                self._closed.wait(TICK_SECONDS)

    # The thread that reads

    def _receive(self, connection: Connection, event: str, body: Any) -> None:
        if event in PRIVATE_EVENTS:
            taken = self._position.take(body)
            if taken == MISSING:
                # Another connection begins with them.
                connection.close("events of the wallet are missing")
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
        elif event == "session:expiring":
            # It waits for answers, and pings come meanwhile.
            threading.Thread(target=self._renew, args=(connection,), name="ctf-exchange-renewal", daemon=True).start()
        elif event == "session:ended":
            self._refused = self._token
            connection.reason = f"{body.get('code')}: {body.get('detail')}"
        self._notify(event, body)

    def _renew(self, connection: Connection) -> None:
        """Another token on the same socket, so that nothing is interrupted."""
        try:
            token = self._client.token(self._token)
        except ExchangeError:
            # The exchange ends the connection in time, and the next one needs a token first.
            return
        self._token = token
        connection.emit("renew", {"token": token})

    def _subscribe(self, book: Book, since: Optional[Dict[str, Any]]) -> None:
        connection, question = self._connection, book.question
        if connection is None:
            return

        def answered(ack: Any) -> None:
            if ack is not None:
                book.answered(question, since, ack)

        # The exchange does not send the same snapshot again to a socket that follows a market.
        if since is None and book.condition_id in self._asked:
            connection.emit("unsubscribe", {"conditionId": book.condition_id})
        self._asked.add(book.condition_id)
        connection.emit("subscribe", {"conditionId": book.condition_id, **(since or {})}, answered)

    def _notify(self, event: str, body: Any) -> None:
        for handler in self._handlers.get(event, ()):
            self._calls.put(event, partial(handler, body))
