"""Calls of the exchange. A signed order is booked once, whatever becomes of the answers."""
from __future__ import annotations

from secrets import token_hex
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from .errors import ExchangeError
from .lane import Message, OrderSocket, answer_of
from .orders import NewOrder, body_of, build_order
from .outcome import resolved
from .sessions import Session, Sessions
from .transport import Transport, persist
from .wallet import Signer, order_digest

READ_SECONDS_MAX = 10.0
RESOLVE_SECONDS = 20.0
UNAUTHORIZED = 401
#: What `cancel_all` takes besides a market.
FILTERS: Mapping[str, Sequence[Any]] = {"outcomeIndex": (0, 1), "side": ("BUY", "SELL")}


class Client:
    """With a wallet it signs in by itself, when a call needs it. An API key stands in the place of a session."""

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
        self.base_url = base_url.rstrip("/")
        self.wallet = wallet
        self._api_key = api_key
        self._transport = Transport(base_url, timeout)
        self._resolve_seconds = resolve_seconds
        self._decimals: Optional[int] = None
        self._nonce = 0
        self._socket: Optional[OrderSocket] = None
        self.sessions = Sessions(self._transport, wallet, on_session)

    def use_socket(self, live: Optional[OrderSocket]) -> None:
        """Orders and cancels go over this `Live` while it is up and has the same wallet; by HTTP otherwise, and with None."""
        self._socket = live

    # Reads

    def get(self, path: str, *, signed_in: bool = False, **query: Any) -> Any:
        """Asked again for 10 s when no answer comes."""
        return self._again(lambda: self._send("GET", path, query=query, signed_in=signed_in))

    def config(self) -> Any:
        return self.get("/config")

    def markets(self, **query: Any) -> Any:
        return self.get("/markets", **query)

    def market(self, name: str) -> Any:
        return self.get(f"/markets/{name}")

    def event(self, slug: str) -> Any:
        return self.get(f"/events/{slug}")

    def trading(self, name: str) -> Any:
        return self.get(f"/markets/{name}/trading")

    def orderbook(self, name: str, **query: Any) -> Any:
        return self.get(f"/markets/{name}/orderbook", **query)

    def orderbooks(self, names: Sequence[str], **query: Any) -> Any:
        """Of at most 50 markets."""
        return self.get("/orderbooks", ids=",".join(names), **query)["data"]

    def ticker(self, name: str) -> Any:
        return self.get(f"/markets/{name}/ticker")

    def tickers(self, names: Sequence[str]) -> Any:
        """Of at most 50 markets."""
        return self.get("/tickers", ids=",".join(names))["data"]

    def trades(self, name: str, **query: Any) -> Any:
        return self.get(f"/markets/{name}/trades", **query)

    def candles(self, name: str, interval: str, **query: Any) -> Any:
        return self.get(f"/markets/{name}/candles", interval=interval, **query)

    def order(self, order_hash: str) -> Any:
        return self.get(f"/orders/{order_hash}")

    def order_fills(self, order_hash: str, **query: Any) -> Any:
        return self.get(f"/orders/{order_hash}/fills", **query)

    def orders(self, **query: Any) -> Any:
        return self.get("/me/orders", signed_in=True, **query)

    def balances(self) -> Any:
        return self.get("/me/balances", signed_in=True)

    def portfolio(self, timeframe: Optional[str] = None) -> Any:
        """Value, cash, orders, positions, profit or loss, and the value over time."""
        return self.get("/me/portfolio", signed_in=True, timeframe=timeframe)

    def positions(self, **query: Any) -> Any:
        return self.get("/me/positions", signed_in=True, **query)

    def my_trades(self, **query: Any) -> Any:
        return self.get("/me/trades", signed_in=True, **query)

    def activity(self, **query: Any) -> Any:
        return self.get("/me/activity", signed_in=True, **query)

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

    def place(self, trading: Mapping[str, Any], order: NewOrder) -> Any:
        """Builds, signs and submits. Raises ExchangeError: the refusal, or OUTCOME_UNKNOWN with `signed`."""
        return self._current_nonce(lambda: self.submit(trading["market"]["id"], self.sign(trading, order)))

    def batch(self, trading: Mapping[str, Any], orders: Sequence[NewOrder]) -> List[Any]:
        """At most 20. The results stand in the order of the orders: `{ status, order }`, or a problem."""
        bodies = [self.sign(trading, order) for order in orders]
        market = trading["market"]["id"]
        message = ("orders:submit", {"marketId": market, "orders": bodies})
        results: List[Any] = self._resolved(f"/markets/{market}/orders/batch", {"orders": bodies}, message)["results"]
        return results

    def replace(self, trading: Mapping[str, Any], old_hash: str, order: NewOrder) -> Any:
        """Cancels the old order and books the new one, or does neither."""
        market = trading["market"]["id"]

        def attempt() -> Any:
            body = self.sign(trading, order)
            message = ("order:replace", {"marketId": market, "orderHash": old_hash, **body})
            return self._resolved(f"/markets/{market}/orders/{old_hash}/replace", body, message, signed_in=True)

        return self._current_nonce(attempt)

    def submit(self, market_id: str, body: Mapping[str, Any]) -> Any:
        """Sends a signed body until it is known whether the order was booked."""
        message = ("order:submit", {"marketId": market_id, **body})
        return self._resolved(f"/markets/{market_id}/orders", body, message)

    def sign(self, trading: Mapping[str, Any], order: NewOrder) -> Dict[str, Any]:
        """The body of a submission, signed by the wallet of this client."""
        wallet = self._own_wallet()
        terms = {"decimals": self.decimals(), "nonce": self._nonce, "signature_type": wallet.signature_type}
        fields = build_order(trading, wallet.address, order, **terms)
        signature = wallet.sign_order(trading["eip712"]["domain"], fields)
        return body_of(order, {**fields, "signature": signature})

    def hash_of(self, trading: Mapping[str, Any], body: Mapping[str, Any]) -> str:
        return "0x" + order_digest(trading["eip712"]["domain"], body["order"]).hex()

    def cancel(self, order_hash: str) -> Any:
        return self._cancel(f"/orders/{order_hash}/cancel", None, ("order:cancel", {"orderHash": order_hash}))

    def cancel_all(self, market: Optional[str] = None, **body: Any) -> Any:
        """Of every market without `market`, which `None` means, too. With one also `outcomeIndex` (0 or 1), `side`, or both."""
        for name, value in body.items():
            if value not in FILTERS.get(name, ()):
                raise ValueError(f"cancel_all takes market, outcomeIndex (0 or 1) and side (BUY or SELL), not {name}={value!r}")
        if body and market is None:
            raise ValueError("outcomeIndex and side need a market")
        path = "/me/orders/cancel-all" if market is None else f"/markets/{market}/orders/cancel-all"
        named: Dict[str, Any] = {"all": True} if market is None else {"marketId": market}
        return self._cancel(path, body, ("orders:cancel", {**named, **body}))

    def cancel_many(self, order_hashes: Sequence[str]) -> Any:
        """At most 100; orders that were gone already are in `notCancelled`."""
        hashes = None if order_hashes is None or isinstance(order_hashes, str) else list(order_hashes)
        if hashes is None or not all(isinstance(name, str) for name in hashes):
            raise ValueError("cancel_many takes a list of order hashes")
        body = {"orderHashes": hashes}
        return self._cancel("/orders/cancel", body, ("orders:cancel", body))

    def split(self, market: str, size: str) -> Any:
        """Collateral into full sets. With funds on a chain it raises ON_CHAIN: `send_calls` sends what `calls_of` finds."""
        return self._convert(market, "split", size)

    def merge(self, market: str, size: str) -> Any:
        """Full sets into collateral. On a chain as `split`."""
        return self._convert(market, "merge", size)

    def faucet(self) -> Any:
        """Test funds, at most once an hour; with funds on a chain they arrive some seconds later."""
        return self.call("POST", "/me/faucet")

    def raise_nonce(self) -> Any:
        """One higher: every open order signed below it is INVALIDATED."""
        raised = self.call("POST", "/me/nonce")
        self._nonce = int(raised["nonce"])
        return raised

    def api_keys(self) -> Any:
        return self.get("/me/keys", signed_in=True)["data"]

    def create_api_key(self, name: str, scopes: Sequence[str], expires_at: Optional[int] = None) -> Any:
        """The answer is the only one that has the key."""
        expiry = {} if expires_at is None else {"expiresAt": expires_at}
        return self.call("POST", "/me/keys", {"name": name, "scopes": list(scopes), **expiry})

    def delete_api_key(self, key_id: str) -> Any:
        return self.call("DELETE", f"/me/keys/{key_id}")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Any operation of docs/endpoints.md, once, signed in."""
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
            ack = self._socket.ask(message, self.token())
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

    def _cancel(self, path: str, body: Any, message: Message) -> Any:
        return self._again(lambda: self._send("POST", path, body=body, signed_in=True, message=message))

    def _again(self, attempt: Callable[[], Any]) -> Any:
        return persist(attempt, lambda error: error.is_worth_another, READ_SECONDS_MAX)

    def _convert(self, market: str, verb: str, size: str) -> Any:
        # The exchange does what has one key once.
        headers = {"idempotency-key": token_hex(16)}
        path, body = f"/markets/{market}/{verb}", {"size": size}
        return self._again(lambda: self._send("POST", path, body=body, headers=headers, signed_in=True))

    def _resolved(self, path: str, body: Mapping[str, Any], message: Message, *, signed_in: bool = False) -> Any:
        def attempt() -> Any:
            return self._send("POST", path, body=body, signed_in=signed_in, message=message)

        return resolved(attempt, body, self._resolve_seconds)

    def _current_nonce(self, attempt: Callable[[], Any]) -> Any:
        try:
            return attempt()
        except ExchangeError as error:
            current = error.problem.get("current")
            if error.code != "INVALID_NONCE_VALUE" or current is None:
                raise
            self._nonce = int(current)
            return attempt()

    def _own_wallet(self) -> Signer:
        if self.wallet is None:
            raise ExchangeError("NOT_SIGNED_IN", "this client has no wallet to sign orders with")
        return self.wallet
