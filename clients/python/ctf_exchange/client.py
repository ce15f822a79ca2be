"""Calls of the exchange. A signed order is booked once, whatever becomes of the answers."""
from __future__ import annotations

import time
from datetime import datetime
from secrets import token_hex
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote, urlsplit

from . import checks, types
from .connection import Message, OrderSocket, answer_of
from .errors import ExchangeError
from .orders import SIDES, NewOrder, SubmitBody, body_of, build_order, check_body, check_order
from .outcome import resolved
from .sessions import Session, Sessions
from .transport import Transport, persist
from .types import Trading
from .wallet import Signer, order_digest

READ_SECONDS_MAX = 10.0
RESOLVE_SECONDS = 20.0
#: How long the difference between two clocks is believed.
CLOCK_SECONDS_MAX = 600.0
UNAUTHORIZED = 401
BATCH_ORDERS_MAX = 20
CANCEL_HASHES_MAX = 100
NAMES_MAX = 50
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Client:
    """With a wallet it signs in by itself, when a call needs it. An API key stands in the place of a session.

    A wrong argument of any function is a ValueError, before anything is signed or sent.
    """

    def __init__(
        self,
        base_url: str = "http://localhost:3000",
        wallet: Optional[Signer] = None,
        *,
        api_key: Optional[str] = None,
        timeout: float = 10.0,
        resolve_seconds: float = RESOLVE_SECONDS,
        on_session: Optional[Callable[[Optional[Session]], None]] = None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise checks.fail("base_url", "a URL such as https://host or https://host/path", base_url)
        if wallet is not None and not isinstance(wallet, Signer):
            raise checks.fail("wallet", "a Signer", wallet)
        if api_key is not None:
            checks.name(api_key, "api_key")
        for seconds, what in ((timeout, "timeout"), (resolve_seconds, "resolve_seconds")):
            if type(seconds) not in (int, float) or not 0 < seconds < float("inf"):
                raise checks.fail(what, "a number of seconds", seconds)
        self.base_url = base_url.rstrip("/")
        self.wallet = wallet
        self._api_key = api_key
        self._transport = Transport(base_url, timeout)
        self._resolve_seconds = resolve_seconds
        self._decimals: Optional[int] = None
        #: The exchange's clock less the monotonic one, and the monotonic time of the reading.
        self._clock_offset = 0.0
        self._clock_read_at: Optional[float] = None
        self._nonce = 0
        self._socket: Optional[OrderSocket] = None
        self.sessions = Sessions(self._transport, wallet, on_session)

    @property
    def can_sign_in(self) -> bool:
        return self.wallet is not None or self._api_key is not None

    def use_socket(self, live: Optional[OrderSocket]) -> None:
        """Orders and cancels go over this `Live` while it is up and has the same wallet; by HTTP otherwise, and with None."""
        self._socket = live

    # Reads

    def get(self, path: str, *, signed_in: bool = False, **query: Any) -> Any:
        """Asked again for 10 s when no answer comes."""
        checks.text(path, "path", checks.PATH, "a path that begins with /")
        return self._again(lambda: self._send("GET", path, query=query, signed_in=signed_in))

    def server_time(self) -> float:
        """Epoch seconds by the clock of the exchange, which is read every ten minutes: for expirations and deadlines."""
        if self._clock_read_at is None or time.monotonic() - self._clock_read_at > CLOCK_SECONDS_MAX:
            asked_at = time.monotonic()
            timestamp = self.get("/time")["timestamp"] / 1_000
            now = time.monotonic()
            self._clock_offset, self._clock_read_at = timestamp - (asked_at + now) / 2, now
        return time.monotonic() + self._clock_offset

    def config(self) -> types.Config:
        return self.get("/config")

    def markets(
        self,
        *,
        status: Optional[str] = None,
        category: Optional[str] = None,
        tag: Optional[str] = None,
        q: Optional[str] = None,
        sort: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.MarketPage:
        return self.get("/markets", status=status, category=category, tag=tag, q=q, sort=sort, limit=limit, cursor=cursor)

    def market(self, name: str) -> types.Market:
        return self.get(_market(name))

    def event(self, slug: str) -> types.Event:
        return self.get(f"/events/{_part(slug, 'the event')}")

    def trading(self, name: str) -> Trading:
        return self.get(f"{_market(name)}/trading")

    def orderbook(self, name: str, *, depth: Optional[int] = None) -> types.Orderbook:
        return self.get(f"{_market(name)}/orderbook", depth=depth)

    def orderbooks(self, names: Sequence[str], *, depth: Optional[int] = None) -> List[types.Orderbook]:
        """Of at most 50 markets."""
        return self.get("/orderbooks", ids=_names(names), depth=depth)["data"]

    def ticker(self, name: str) -> types.Ticker:
        return self.get(f"{_market(name)}/ticker")

    def tickers(self, names: Sequence[str]) -> List[types.Ticker]:
        """Of at most 50 markets."""
        return self.get("/tickers", ids=_names(names))["data"]

    def trades(
        self,
        name: str,
        *,
        since: Optional[int] = None,
        until: Optional[int] = None,
        order: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.TradePage:
        """`since` and `until` in epoch milliseconds; `order` is asc or desc."""
        return self.get(f"{_market(name)}/trades", since=since, until=until, order=order, limit=limit, cursor=cursor)

    def holders(self, name: str, *, outcomeIndex: Optional[int] = None) -> types.Holders:
        """The 50 largest holders of an outcome; 0 when it is left out."""
        return self.get(f"{_market(name)}/holders", outcomeIndex=outcomeIndex)

    def market_activity(
        self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> types.MarketTradePage:
        """The trades of a market with their wallets, newest first."""
        return self.get(f"{_market(name)}/activity", limit=limit, cursor=cursor)

    def leaderboard(self, *, limit: Optional[int] = None) -> types.Leaderboard:
        """The wallets that gained most this week, of those that let everybody read their portfolio."""
        return self.get("/leaderboard", limit=limit)

    def candles(
        self,
        name: str,
        interval: str,
        *,
        start: Optional[int] = None,
        end: Optional[int] = None,
        outcomeIndex: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> types.Candles:
        """`start` and `end`, the `from` and `to` of the exchange, in epoch seconds."""
        period: Dict[str, Any] = {"from": start, "to": end}
        return self.get(f"{_market(name)}/candles", interval=interval, outcomeIndex=outcomeIndex, limit=limit, **period)

    def order(self, order_hash: str) -> types.Order:
        return self.get(f"/orders/{checks.order_hash(order_hash)}")

    def order_fills(
        self, order_hash: str, *, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> types.OrderFillPage:
        return self.get(f"/orders/{checks.order_hash(order_hash)}/fills", limit=limit, cursor=cursor)

    def orders(
        self,
        *,
        status: Optional[str] = None,
        marketId: Optional[str] = None,
        side: Optional[types.Side] = None,
        clientOrderId: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.OrderPage:
        """`status` is that of an order, or `open`."""
        query = {"status": status, "marketId": marketId, "side": side, "clientOrderId": clientOrderId}
        return self.get("/me/orders", signed_in=True, limit=limit, cursor=cursor, **query)

    def balances(self) -> types.Balances:
        return self.get("/me/balances", signed_in=True)

    def portfolio(self, timeframe: Optional[str] = None) -> types.Portfolio:
        """Value, cash, orders, positions, profit or loss, and the value over time."""
        return self.get("/me/portfolio", signed_in=True, timeframe=timeframe)

    def positions(
        self,
        *,
        status: Optional[str] = None,
        marketId: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.PositionPage:
        return self.get("/me/positions", signed_in=True, status=status, marketId=marketId, limit=limit, cursor=cursor)

    def my_trades(
        self,
        *,
        marketId: Optional[str] = None,
        since: Optional[int] = None,
        until: Optional[int] = None,
        order: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.OwnTradePage:
        period = {"since": since, "until": until, "order": order}
        return self.get("/me/trades", signed_in=True, marketId=marketId, limit=limit, cursor=cursor, **period)

    def activity(
        self,
        *,
        marketId: Optional[str] = None,
        since: Optional[int] = None,
        until: Optional[int] = None,
        order: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> types.ActivityPage:
        period = {"since": since, "until": until, "order": order}
        return self.get("/me/activity", signed_in=True, marketId=marketId, limit=limit, cursor=cursor, **period)

    def my_comments(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> types.CommentPage:
        """What the wallet wrote in all markets, newest first, without what was deleted."""
        return self.get("/me/comments", signed_in=True, limit=limit, cursor=cursor)

    def walk(self, page: Callable[..., Any], **query: Any) -> Iterator[Any]:
        """Every row of a list: `client.walk(client.orders, status="open")`. With `since` and `order="asc"` it polls."""
        cursor: Optional[str] = None
        while True:
            answer = page(cursor=cursor, **query)
            yield from answer["data"]
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    # Orders

    def place(self, trading: Trading, order: NewOrder) -> types.Submission:
        """Builds, signs and submits. Raises ExchangeError: the refusal, or OUTCOME_UNKNOWN with `signed`."""
        return self._current_nonce(lambda: self.submit(trading["market"]["id"], self.sign(trading, order)))

    def batch(
        self, trading: Trading, orders: Sequence[NewOrder]
    ) -> List[Union[types.BatchResultsResults, Mapping[str, Any]]]:
        """At most 20. The results stand in the order of the orders: `{ status, order }`, or a problem."""
        bodies = self._signed(trading, checks.list_of(orders, "orders", BATCH_ORDERS_MAX))
        market = trading["market"]["id"]
        message = ("orders:submit", {"marketId": market, "orders": bodies})
        return self._resolved(f"{_market(market)}/orders/batch", {"orders": bodies}, message)["results"]

    def replace(self, trading: Trading, old_hash: str, order: NewOrder) -> types.Replacement:
        """Cancels the old order and books the new one, or does neither."""
        checks.order_hash(old_hash, "old_hash")
        market = trading["market"]["id"]
        return self._current_nonce(lambda: self.submit_replacement(market, old_hash, self.sign(trading, order)))

    def submit(self, market_id: str, body: SubmitBody) -> types.Submission:
        """Sends a signed body until it is known whether the order was booked."""
        check_body(body)
        path = f"{_market(market_id)}/orders"
        return self._resolved(path, body, ("order:submit", {"marketId": market_id, **body}))

    def submit_replacement(self, market_id: str, old_hash: str, body: SubmitBody) -> types.Replacement:
        """`submit` of a signed body that replaces an order of the same wallet: both happen, or neither."""
        check_body(body)
        path = f"{_market(market_id)}/orders/{checks.order_hash(old_hash, 'old_hash')}/replace"
        named: Dict[str, Any] = {"marketId": market_id, "orderHash": old_hash}
        message = ("order:replace", {**named, **body})
        return self._resolved(path, body, message, signed_in=True)

    def sign(self, trading: Trading, order: NewOrder) -> SubmitBody:
        """The body of a submission, signed by the wallet of this client; `hash_of` is its name, before it is sent."""
        return self._signed(trading, [order])[0]

    def hash_of(self, trading: Trading, body: SubmitBody) -> str:
        check_body(body)
        return "0x" + order_digest(trading["eip712"]["domain"], body["order"]).hex()

    def cancel(self, order_hash: str) -> types.Cancelled:
        path = f"/orders/{checks.order_hash(order_hash)}/cancel"
        return self._cancel(path, None, ("order:cancel", {"orderHash": order_hash}))

    def cancel_all(
        self, market: Optional[str] = None, **body: Any
    ) -> Union[types.CancelledAll, types.CancelledEverywhere]:
        """Of every market without `market`, which `None` means, too. With one also `outcomeIndex` (0 or 1), `side`, or both."""
        allowed: Mapping[str, Sequence[Any]] = {"outcomeIndex": (0, 1), "side": SIDES}
        for name, value in body.items():
            if not any(type(value) is type(one) and value == one for one in allowed.get(name, ())):
                raise ValueError(f"cancel_all takes market, outcomeIndex (0 or 1) and side (BUY or SELL), not {name}={value!r}")
        if body and market is None:
            raise ValueError("outcomeIndex and side need a market")
        path = "/me/orders/cancel-all" if market is None else f"{_market(market)}/orders/cancel-all"
        named: Dict[str, Any] = {"all": True} if market is None else {"marketId": market}
        return self._cancel(path, body, ("orders:cancel", {**named, **body}))

    def cancel_many(self, order_hashes: Sequence[str]) -> types.CancelledList:
        """At most 100; orders that were gone already are in `notCancelled`."""
        hashes = checks.list_of(order_hashes, "order_hashes", CANCEL_HASHES_MAX)
        body = {"orderHashes": [checks.order_hash(one, "each of order_hashes") for one in hashes]}
        return self._cancel("/orders/cancel", body, ("orders:cancel", body))

    def split(self, market: str, size: str) -> types.Balances:
        """Collateral into full sets. With funds on a chain it raises ON_CHAIN: `send_calls` sends what `calls_of` finds."""
        return self._convert(market, "split", size)

    def merge(self, market: str, size: str) -> types.Balances:
        """Full sets into collateral. On a chain as `split`."""
        return self._convert(market, "merge", size)

    def redeem(self, market: str) -> types.Balances:
        """Tokens of a market with a result. On a chain as `split`; else NOT_FOUND, because the exchange pays the holders itself."""
        return self.call("POST", f"{_market(market)}/redeem")

    def faucet(self) -> types.Balances:
        """Test funds, at most once an hour; with funds on a chain they arrive some seconds later."""
        return self.call("POST", "/me/faucet")

    def raise_nonce(self) -> types.Nonce:
        """One higher: every open order signed below it is INVALIDATED."""
        raised = self._once("/me/nonce", None)
        self._nonce = int(raised["nonce"])
        return raised

    def api_keys(self) -> List[types.ApiKey]:
        return self.get("/me/keys", signed_in=True)["data"]

    def create_api_key(self, name: str, scopes: Sequence[str], expires_at: Optional[datetime] = None) -> types.NewApiKey:
        """`scopes` are `read` and `cancel`. The answer is the only one that has the key."""
        body: Dict[str, Any] = {"name": checks.name(name, "name")}
        body["scopes"] = [checks.choice(one, "each scope", ("read", "cancel")) for one in checks.list_of(scopes, "scopes")]
        if expires_at is not None:
            if not isinstance(expires_at, datetime) or expires_at.tzinfo is None:
                raise checks.fail("expires_at", "a datetime with a time zone", expires_at)
            body["expiresAt"] = expires_at.isoformat()
        return self.call("POST", "/me/keys", body)

    def delete_api_key(self, key_id: str) -> None:
        self.call("DELETE", f"/me/keys/{_part(key_id, 'key_id')}")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Any operation of docs/use/endpoints.md, once, signed in."""
        checks.choice(method, "method", METHODS)
        checks.text(path, "path", checks.PATH, "a path that begins with /")
        return self._send(method, path, body=body, signed_in=True)

    def token(self, refused: Optional[str] = None) -> str:
        """The bearer of this client, for a private socket."""
        return self._api_key or self.sessions.token(refused)

    def decimals(self) -> int:
        if self._decimals is None:
            self._decimals = int(self.config()["limits"]["collateralDecimals"])
        return self._decimals

    def close(self) -> None:
        self._transport.close()

    # Sending

    def _send(
        self, method: str, path: str, *, signed_in: bool = False, message: Optional[Message] = None, **more: Any
    ) -> Any:
        if message is not None and self._socket is not None:
            ack = self._over_socket(self._socket, message)
            # With UNAUTHORIZED nothing was done: the token of the socket may be older than this client's.
            if ack is not None and ack["status"] != UNAUTHORIZED:
                return answer_of(ack)
        if not signed_in:
            return self._transport.send(method, path, **more)
        token = self.token()
        try:
            return self._transport.send(method, path, token=token, **more)
        except ExchangeError as error:
            if error.status != UNAUTHORIZED or self._api_key is not None:
                raise
            return self._transport.send(method, path, token=self.token(refused=token), **more)

    def _over_socket(self, socket: OrderSocket, message: Message) -> Optional[Mapping[str, Any]]:
        try:
            token = self.token()
        except ExchangeError:
            # A signed order needs none by HTTP.
            return None
        return socket.ask(message, token)

    def _cancel(self, path: str, body: Any, message: Message) -> Any:
        return self._again(lambda: self._send("POST", path, body=body, signed_in=True, message=message))

    def _again(self, attempt: Callable[[], Any]) -> Any:
        return persist(attempt, lambda error: error.is_worth_another, READ_SECONDS_MAX)

    def _once(self, path: str, body: Any) -> Any:
        # The exchange does what has one key once.
        headers = {"idempotency-key": token_hex(16)}
        return self._again(lambda: self._send("POST", path, body=body, headers=headers, signed_in=True))

    def _convert(self, market: str, verb: str, size: str) -> Any:
        path = f"{_market(market)}/{verb}"
        checks.positive(size, checks.FINEST, "size")
        return self._once(path, {"size": size})

    def _resolved(self, path: str, body: Mapping[str, Any], message: Message, *, signed_in: bool = False) -> Any:
        def attempt() -> Any:
            return self._send("POST", path, body=body, signed_in=signed_in, message=message)

        try:
            return resolved(attempt, body, self._resolve_seconds)
        except ExchangeError as error:
            self._learn_nonce(error)
            raise

    def _learn_nonce(self, error: ExchangeError) -> bool:
        """Whether the refusal says which nonce the wallet has; the next order is signed with it."""
        current = error.problem.get("current")
        if error.code != "INVALID_NONCE_VALUE" or current is None:
            return False
        self._nonce = int(current)
        return True

    def _current_nonce(self, attempt: Callable[[], Any]) -> Any:
        try:
            return attempt()
        except ExchangeError as error:
            if not self._learn_nonce(error):
                raise
            return attempt()

    def _signed(self, trading: Trading, orders: Sequence[NewOrder]) -> List[SubmitBody]:
        """Every order is checked before the first one is signed."""
        wallet = self._own_wallet()
        for order in orders:
            check_order(order, trading)
        terms: Dict[str, Any] = {"decimals": self.decimals(), "nonce": self._nonce, "now": self.server_time()}
        terms["signature_type"] = wallet.signature_type
        built = [build_order(trading, wallet.address, order, **terms) for order in orders]
        domain = trading["eip712"]["domain"]
        return [
            body_of(order, {**fields, "signature": wallet.sign_order(domain, fields)})
            for order, fields in zip(orders, built)
        ]

    def _own_wallet(self) -> Signer:
        if self.wallet is None:
            raise ExchangeError("NOT_SIGNED_IN", "this client has no wallet to sign orders with")
        return self.wallet


def _part(value: str, what: str) -> str:
    return quote(checks.name(value, what), safe="")


def _market(name: str) -> str:
    return f"/markets/{_part(name, 'the market')}"


def _names(names: Sequence[str]) -> str:
    return ",".join(checks.name(one, "each market") for one in checks.list_of(names, "the markets", NAMES_MAX))
