# Quotes both outcomes of a market around a fair price until Ctrl-C, whatever restarts meanwhile: the exchange or itself.
# npm start, then: PYTHONPATH=clients/python /usr/bin/python3 clients/python/examples/market_maker.py [market] [fair price]
from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ctf_exchange import Client, ExchangeError, Live, NewOrder, Wallet

SIZE = "20"
LEVELS = 2
ROUND_SECONDS = 0.5
ONE = 10_000
FINAL = ("FILLED", "CANCELLED", "EXPIRED", "INVALIDATED")
#: Orders of a maker that died and was started again with the same key are known by this name.
NAME = "maker"

Slot = Tuple[int, int]


class Orders:
    """What is known of every order that was ever sent: nothing is sent before its hash is written down."""

    def __init__(self) -> None:
        self.status: Dict[str, str] = {}
        self._sequence: Dict[str, int] = {}
        self._lock = threading.Lock()

    def sent(self, order_hash: str) -> None:
        with self._lock:
            self.status.setdefault(order_hash, "UNKNOWN")

    def seen(self, record: Mapping[str, Any]) -> None:
        """A record, or the answer of a submission; one that is older than what is known changes nothing."""
        with self._lock:
            order_hash, sequence = record["orderHash"], record.get("sequence", 0)
            if self.status.get(order_hash) in FINAL or sequence < self._sequence.get(order_hash, -1):
                return
            self.status[order_hash] = record["status"]
            self._sequence[order_hash] = sequence

    def refused(self, order_hash: str) -> None:
        with self._lock:
            if self.status.get(order_hash) == "UNKNOWN":
                self.status[order_hash] = "REFUSED"

    def with_status(self, *wanted: str) -> List[str]:
        with self._lock:
            return [one for one, status in self.status.items() if status in wanted]

    def is_resting(self, order_hash: Optional[str]) -> bool:
        with self._lock:
            return self.status.get(order_hash or "") in ("OPEN", "PARTIALLY_FILLED")


class Maker:
    def __init__(self, client: Client, name: str, fair: Optional[str]) -> None:
        self.client = client
        self.trading = client.trading(name)
        self.market = self.trading["market"]
        self.tick = round(float(self.market["tickSize"]) * ONE)
        self.fair = round(float(fair or self.market["midpoint"] or 0.5) * ONE)
        self.orders = Orders()
        self.quotes: Dict[Slot, Tuple[str, int]] = {}
        self.must_reconcile = threading.Event()
        # Should this process die, the exchange takes the orders back 10 s later.
        self.live = Live(client, cancel_on_disconnect=True)
        client.use_socket(self.live)
        self.book = self.live.watch(self.market["conditionId"])
        self.book.on_state = lambda state, why: say({"book": state, "why": why})
        self.live.on("order:update", self.orders.seen)
        # What became of a request whose answer was lost is not told, and after an epoch writes may be missing.
        for event in ("connect", "epoch"):
            self.live.on(event, lambda _: self.must_reconcile.set())

    def start(self) -> None:
        # What an earlier run of this maker left behind.
        self.client.cancel_all(self.market["id"])
        self.live.start()

    def centre(self) -> int:
        """Around the fair price, never through the book of the others."""
        held = {0: 0.0, 1: 0.0}
        for token in self.client.balances()["tokens"]:
            if token["marketId"] == self.market["id"]:
                held[token["outcomeIndex"]] = float(token["total"])
        sets = int(min(held.values()))
        if sets > 0:
            self.client.merge(self.market["id"], str(sets))
        lean = self.tick * round((held[0] - held[1]) / 100)
        return min(ONE - 4 * self.tick, max(4 * self.tick, self.fair - lean))

    def wanted(self) -> Dict[Slot, int]:
        """Bids for Yes are bids; bids for No are asks of Yes: neither needs a token to begin with."""
        centre = self.centre() // self.tick * self.tick
        return {
            (outcome, level): (centre if outcome == 0 else ONE - centre) - (1 + level) * self.tick
            for outcome in (0, 1)
            for level in range(LEVELS)
        }

    def round(self) -> int:
        """One look at everything; the number of quotes that rest afterwards."""
        if self.must_reconcile.is_set():
            self.must_reconcile.clear()
            self.reconcile()
        # A book that is not in step is no reason to quote.
        if self.book.state == "live":
            for slot, pips in self.wanted().items():
                self.quote(slot, pips)
        return sum(self.orders.is_resting(order_hash) for order_hash, _ in self.quotes.values())

    def quote(self, slot: Slot, pips: int) -> None:
        """Replaces the quote of the slot in one step: there are never two of it, and none only if the new one is refused."""
        resting, at = self.quotes.get(slot, (None, 0))
        old = resting if self.orders.is_resting(resting) else None
        if old is not None and at == pips:
            return
        order = NewOrder(
            outcome_index=slot[0],
            side="BUY",
            size=SIZE,
            price=f"{pips / ONE:.4f}".rstrip("0"),
            order_type="POST_ONLY",
            client_order_id=NAME,
        )
        body = self.client.sign(self.trading, order)
        order_hash = self.client.hash_of(self.trading, body)
        self.orders.sent(order_hash)
        market = self.market["id"]
        try:
            if old is None:
                self.orders.seen(self.client.submit(market, body))
            else:
                # The end of the old one comes as an `order:update`.
                self.orders.seen(self.client.submit_replacement(market, old, body))
            self.quotes[slot] = (order_hash, pips)
        except ExchangeError as error:
            if error.code == "OUTCOME_UNKNOWN":
                self.must_reconcile.set()
                raise
            self.orders.refused(order_hash)
            if old is not None:
                # It was filled meanwhile, or it would stay at a price that is wrong.
                self.must_reconcile.set()
                self.orders.seen(self.client.cancel(old))
            if error.code not in ("POST_ONLY_WOULD_CROSS", "INSUFFICIENT_BALANCE", "ORDER_NOT_CANCELLABLE"):
                raise

    def reconcile(self) -> None:
        """Every order whose end is not known is looked up; one that the exchange does not know was never booked."""
        for order_hash in self.orders.with_status("UNKNOWN", "OPEN", "PARTIALLY_FILLED"):
            try:
                self.orders.seen(self.client.order(order_hash))
            except ExchangeError as error:
                if error.code != "ORDER_NOT_FOUND":
                    self.must_reconcile.set()
                    raise
                self.orders.refused(order_hash)

    def stop(self) -> None:
        self.client.cancel_all(self.market["id"])
        self.reconcile()
        self.live.close()


def say(line: Dict[str, Any]) -> None:
    print(json.dumps({"at": round(time.time(), 3), **line}), flush=True)


def main() -> None:
    client = Client(os.environ.get("BASE_URL", "http://localhost:3000"), Wallet(os.environ.get("PRIVATE_KEY")))
    name = sys.argv[1] if len(sys.argv) > 1 else client.markets(status="OPEN", limit=1)["data"][0]["id"]
    maker = Maker(client, name, sys.argv[2] if len(sys.argv) > 2 else None)
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    maker.start()
    while not done.is_set():
        try:
            resting = maker.round()
            book = maker.book.view()
            say({"resting": resting, "sequence": book.sequence, "checksum": book.checksum})
        except ExchangeError as error:
            say({"refused": error.code, "detail": error.detail})
        done.wait(ROUND_SECONDS)
    maker.stop()
    say({"orders": maker.orders.status, "faults": maker.book.faults, "connections": maker.live.connections})


if __name__ == "__main__":
    main()
