"""Wrong input of every kind: nothing is signed and nothing is sent."""
from __future__ import annotations

import unittest
from dataclasses import replace
from datetime import datetime
from typing import Any, Callable, Dict, Iterator, List, Mapping, Tuple

from ctf_exchange import Client, ContractWallet, Live, NewOrder, Wallet, build_order, order_digest, safe_wallet, send_calls
from ctf_exchange.amounts import parse

ADDRESS = "0x" + "Ab" * 20
HASH = "0x" + "0a" * 32
NAN = float("nan")
DOMAIN = {"name": "CTF Exchange", "version": "1", "chainId": 137, "verifyingContract": ADDRESS}
LIMITS = {"feeRateBps": 0, "lotSize": "0.01", "maxOrderSize": "1000"}
TRADING: Any = {
    "market": {"id": "market", "outcomes": [{"tokenId": "11"}, {"tokenId": "12"}]},
    "limits": LIMITS,
    "eip712": {"domain": DOMAIN},
}
NOT_TEXT = (None, 1, 1.0, True, NAN, b"1", [], {}, "")
NOT_HASH = (*NOT_TEXT, "0x00", HASH[2:], HASH + "0", HASH + "\n", HASH.replace("0x", "0X"))
#: No amount, whatever it is an amount of.
NOT_AMOUNT = (
    *(0, 1, 0.5, True, NAN, float("inf"), b"1", [], "", "0", "0.0", "-1", "+1", "1e2", "1,0", ".5", "1.", " 1", "1\n", "01"),
    *("NaN", "Infinity", "0x1", "\u0661", "1_000"),
)
NOT_INDEX = (None, "0", "1", "Yes", True, False, 0.0, 1.0, -1, 2, NAN)
NOT_SIDE = (None, "buy", "Buy", "SELL ", "", 0, 1, True, "LONG", b"BUY")
NOT_TYPE = (None, "gtc", "Limit", "LIMIT", "", 0, True)
WRONG_MEMBERS: Dict[str, Tuple[Any, ...]] = {
    "outcome_index": NOT_INDEX,
    "side": NOT_SIDE,
    "order_type": NOT_TYPE,
    "size": (None, *NOT_AMOUNT, "0.001", "1000.01"),
    "price": (None, *NOT_AMOUNT, "1", "1.0", "2", "0.00001", "62"),
    "budget": ("1",),
    "expiration": (None, "0", True, False, 0.0, NAN, -1, 300, 1_800_000_000_000, 4_102_444_801, 1.8e9),
    "client_order_id": ("", "a b", "ä", 1, True, "a" * 65, b"a", "a\n"),
    "self_trade_prevention": ("none", "", True, 0, "CANCEL"),
    "deadline": ("1", True, 1.8e12, NAN, -1, 0, 1_800_000_000),
}
RIGHT = NewOrder(outcome_index=0, side="BUY", size="10", price="0.5")
MARKET_BUY = NewOrder(outcome_index=1, side="BUY", budget="10", price="0.5", order_type="MARKET")


class Counting(Wallet):
    signed = 0

    def sign_digest(self, digest: bytes) -> str:
        self.signed += 1
        return super().sign_digest(digest)


def wrong_orders() -> Iterator[Any]:
    for member, values in WRONG_MEMBERS.items():
        for value in values:
            yield replace(RIGHT, **{member: value})
    for member in ("budget", "price"):
        for value in (None, *NOT_AMOUNT):
            yield replace(MARKET_BUY, **{member: value})
    # It would be a budget of 5, which buys 16 at 0.3.
    yield replace(MARKET_BUY, budget=None, size="10")
    yield replace(MARKET_BUY, size="10")
    yield replace(MARKET_BUY, side="SELL", budget=None, size="10", price=None)
    yield from (None, {}, {"side": "BUY"}, "BUY", [RIGHT])


class Refused(unittest.TestCase):
    def setUp(self) -> None:
        self.wallet = Counting()
        # Nothing listens there: a call that is not refused at once fails with another error.
        self.client = Client("http://127.0.0.1:9", self.wallet, resolve_seconds=0.01)
        self.sent: List[str] = []
        self.client._transport.send = lambda method, path, **_: self.sent.append(path)  # type: ignore[assignment]

    def refuses(self, *calls: Tuple[str, Callable[[], Any]]) -> None:
        for what, call in calls:
            with self.assertRaises((ValueError, TypeError), msg=what):
                call()
        self.assertEqual((self.wallet.signed, self.sent), (0, []))

    def test_every_member_of_an_order_by_every_function_that_signs_one(self) -> None:
        wrong = list(wrong_orders())
        self.assertGreater(len(wrong), 150)
        client = self.client
        for order in wrong:
            self.refuses(
                (f"place {order}", lambda: client.place(TRADING, order)),
                (f"sign {order}", lambda: client.sign(TRADING, order)),
                (f"batch {order}", lambda: client.batch(TRADING, [RIGHT, order])),
                (f"replace {order}", lambda: client.replace(TRADING, HASH, order)),
                (f"build {order}", lambda: build_order(TRADING, ADDRESS, order, now=0)),
            )

    def test_terms_of_an_order(self) -> None:
        wrong: Dict[str, Tuple[Any, ...]] = {
            "nonce": (None, "0", True, 0.0, -1, 2**256, NAN),
            "salt": ("1", True, 1.0, -1, 2**256, NAN),
            "decimals": (None, "18", True, 18.0, -1),
            "signature_type": (None, "0", False, 0.0, 1, 2, 4),
        }
        for name, values in wrong.items():
            for value in values:
                self.refuses((f"{name} {value!r}", lambda: build_order(TRADING, ADDRESS, RIGHT, now=0, **{name: value})))
        for maker in (*NOT_TEXT, "0x", ADDRESS[2:], ADDRESS + "0", HASH):
            self.refuses((f"maker {maker!r}", lambda: build_order(TRADING, maker, RIGHT, now=0)))

    def test_unknown_members_and_keywords(self) -> None:
        client: Any = self.client
        self.refuses(
            ("NewOrder", lambda: NewOrder(0, "BUY", "1", "0.5", prise="1")),  # type: ignore[call-arg]
            ("build_order", lambda: build_order(TRADING, ADDRESS, RIGHT, now=0, sallt=1)),  # type: ignore[call-arg]
            ("place", lambda: client.place(TRADING, RIGHT, orderType="IOC")),
            ("cancel", lambda: client.cancel(HASH, market="a")),
            ("cancel_all", lambda: client.cancel_all(marketId="a")),
            ("split", lambda: client.split("a", "1", amount="1")),
            ("markets", lambda: client.markets(state="OPEN")),
            ("Client", lambda: Client("http://127.0.0.1:9", self.wallet, apikey="a")),  # type: ignore[call-arg]
            ("Live", lambda: Live(client, cancelOnDisconnect=True)),  # type: ignore[call-arg]
        )

    def test_signed_bodies(self) -> None:
        order = {**build_order(TRADING, ADDRESS, RIGHT, now=0), "signature": "0x00"}
        body = {"order": order, "orderType": "GTC"}
        wrong: List[Any] = [None, {}, [], order, {**body, "ordertype": "GTC"}, {**body, "order": None}]
        for name, value in order.items():
            numbers = (None, True, 1.0, NAN, -1, [], "", "x", 2**256, str(2**256), "01", "-1", "0X1")
            others = ("0", "1") if isinstance(value, int) else (0, 1)
            wrong += [{**body, "order": {**order, name: one}} for one in (*numbers, *others)]
            wrong.append({**body, "order": {member: one for member, one in order.items() if member != name}})
        wrong.append({**body, "order": {**order, "memo": "1"}})
        wrong += [{**body, "orderType": one} for one in NOT_TYPE]
        wrong += [{**body, "selfTradePrevention": one} for one in (None, "none", True)]
        wrong += [{**body, "clientOrderId": one} for one in (None, "", 1)]
        wrong += [{**body, "deadline": one} for one in (None, "1", True, 1.5)]
        for one in wrong:
            self.refuses(
                (f"submit {one}", lambda: self.client.submit("market", one)),
                (f"replacement {one}", lambda: self.client.submit_replacement("market", HASH, one)),
                (f"hash {one}", lambda: self.client.hash_of(TRADING, one)),
            )
            if isinstance(one, dict) and isinstance(one.get("order"), dict) and one["order"].get("signature") == "0x00":
                if one["order"] != order:
                    self.refuses((f"sign_order {one}", lambda: self.wallet.sign_order(DOMAIN, one["order"])))

    def test_domains(self) -> None:
        order = build_order(TRADING, ADDRESS, RIGHT, now=0)
        for name in DOMAIN:
            for value in (None, True, 1.5, "", [], "0x1", NAN, 0):
                domain: Mapping[str, Any] = {**DOMAIN, name: value}
                if value == "0x1" and name in ("name", "version"):
                    continue
                self.refuses(
                    (f"{name} {value!r}", lambda: self.wallet.sign_order(domain, order)),
                    (f"{name} {value!r}", lambda: order_digest(domain, order)),
                )
        self.refuses(("more", lambda: self.wallet.sign_order({**DOMAIN, "salt": "1"}, order)))

    def test_names_hashes_lists_and_amounts(self) -> None:
        client, body = self.client, {"order": {**build_order(TRADING, ADDRESS, RIGHT, now=0), "signature": "0x"}}
        any_: Any = client
        for name in (*NOT_TEXT, ".", ".."):
            self.refuses(
                (f"submit {name!r}", lambda: any_.submit(name, body)),
                (f"split {name!r}", lambda: any_.split(name, "1")),
                (f"merge {name!r}", lambda: any_.merge(name, "1")),
                (f"delete_api_key {name!r}", lambda: any_.delete_api_key(name)),
                (f"create_api_key {name!r}", lambda: any_.create_api_key(name, ["read"])),
                (f"message {name!r}", lambda: self.wallet.sign_message(name)),
            )
            if name is not None:
                self.refuses((f"cancel_all {name!r}", lambda: any_.cancel_all(name)))
        for one in NOT_HASH:
            self.refuses(
                (f"cancel {one!r}", lambda: any_.cancel(one)),
                (f"order {one!r}", lambda: any_.order(one)),
                (f"replace {one!r}", lambda: any_.replace(TRADING, one, RIGHT)),
                (f"replacement {one!r}", lambda: any_.submit_replacement("market", one, body)),
                (f"cancel_many {one!r}", lambda: any_.cancel_many([HASH, one])),
                (f"watch {one!r}", lambda: Live(client).watch(one)),
            )
        for size in (None, *NOT_AMOUNT):
            self.refuses((f"{size!r}", lambda: any_.split("a", size)), (f"{size!r}", lambda: any_.merge("a", size)))
        for many in (None, "", HASH, {}, [], {HASH: 1}, 1, [HASH] * 101):
            self.refuses((f"cancel_many {many!r}", lambda: any_.cancel_many(many)))
        for orders in (None, RIGHT, [], "", {}, [RIGHT] * 21):
            self.refuses((f"batch {orders!r}", lambda: any_.batch(TRADING, orders)))
        for index in NOT_INDEX:
            self.refuses((f"{index!r}", lambda: any_.cancel_all("a", outcomeIndex=index)))
        for side in NOT_SIDE:
            self.refuses((f"{side!r}", lambda: any_.cancel_all("a", side=side)))
        self.refuses(("without a market", lambda: any_.cancel_all(side="BUY")))
        for scopes in (None, [], "read", ["write"], ["READ"], [None], {"read": True}):
            self.refuses((f"{scopes!r}", lambda: any_.create_api_key("a", scopes)))
        for at in (1, "2030-01-01", True, datetime(2030, 1, 1)):
            self.refuses((f"{at!r}", lambda: any_.create_api_key("a", ["read"], at)))
        for method, path in (("get", "/me"), (None, "/me"), ("POST", "me"), ("POST", None), ("POST", "/me\r\nx: y")):
            self.refuses((f"{method} {path}", lambda: any_.call(method, path)))

    def test_clients_wallets_and_sockets(self) -> None:
        for url in (None, "", "localhost:3000", "ftp://host", "http://", "http://host?x=1", "ws://host"):
            self.refuses((f"{url!r}", lambda: Client(url)))  # type: ignore[arg-type]
        for key in ("", "0x", "1", "46" * 31, "0x" + "46" * 33, "0x" + "00" * 32, "0x" + "ff" * 32, 1, True, b"\x46" * 32, " " + "46" * 32):
            self.refuses((f"{key!r}", lambda: Wallet(key)))  # type: ignore[arg-type]
        for address in (*NOT_TEXT, HASH):
            self.refuses(
                (f"{address!r}", lambda: ContractWallet(address, self.wallet.sign_digest)),  # type: ignore[arg-type]
                (f"{address!r}", lambda: safe_wallet(address, [self.wallet], 1)),  # type: ignore[arg-type]
            )
        for digest in (None, b"", b"\0" * 31, "0x" + "00" * 32, bytearray(32)):
            with self.assertRaises(ValueError):
                Wallet().sign_digest(digest)  # type: ignore[arg-type]
        live: Any = Live(self.client)
        self.refuses(
            ("an unknown event", lambda: live.on("order:updated", print)),
            ("no handler", lambda: live.on("order:update", None)),
            ("no wallet", lambda: Live(Client("http://127.0.0.1:9"))),
            ("seconds", lambda: Live(self.client, handler_seconds_max=True)),
            ("seconds", lambda: Live(self.client, handler_seconds_max=NAN)),
            ("an option as text", lambda: Live(self.client, cancel_on_disconnect="no")),  # type: ignore[arg-type]
        )

    def test_transactions(self) -> None:
        right: Dict[str, Any] = {"chain_id": 1, "nonce": 0, "gas_price": 1, "gas_limit": 1, "to": ADDRESS, "data": "0x", "value": 0}
        for name in right:
            for value in (None, True, 1.5, "", "1", -1, NAN, "0x1"):
                self.refuses((f"{name} {value!r}", lambda: self.wallet.sign_transaction(**{**right, name: value})))
        call = {"to": ADDRESS, "data": "0x"}
        for calls in (None, call, "", [call, {}], [call, {**call, "value": "1"}], [{**call, "to": "0x"}], [{**call, "data": "00"}]):
            self.refuses((f"{calls!r}", lambda: send_calls("http://127.0.0.1:9", 1, self.wallet, calls)))  # type: ignore[arg-type]
        for chain_id in (None, "1", True, 0, 1.0):
            self.refuses((f"{chain_id!r}", lambda: send_calls("http://127.0.0.1:9", chain_id, self.wallet, [call])))  # type: ignore[arg-type]


class Signed(unittest.TestCase):
    def test_what_never_rests_expires_300_s_ahead_by_the_clock_of_the_exchange(self) -> None:
        for order_type, expiration in (("IOC", "1300"), ("FOK", "1300"), ("GTC", "0"), ("POST_ONLY", "0")):
            order: Any = replace(RIGHT, order_type=order_type)
            self.assertEqual(build_order(TRADING, ADDRESS, order, now=1000.9)["expiration"], expiration)
        self.assertEqual(build_order(TRADING, ADDRESS, MARKET_BUY, now=1000.9)["expiration"], "1300")
        later = replace(MARKET_BUY, expiration=2_000_000_000)
        self.assertEqual(build_order(TRADING, ADDRESS, later, now=1000.9)["expiration"], "2000000000")

    def test_a_market_buy_spends_its_budget_at_its_worst_price(self) -> None:
        order = build_order(TRADING, ADDRESS, replace(MARKET_BUY, budget="10", price="0.3"), now=0, decimals=6)
        self.assertEqual((order["makerAmount"], order["takerAmount"]), ("10000000", "33333333"))
        # As the exchange computes its limit, which is 0.3 again.
        self.assertEqual(10_000_000 * 10_000 // (33_333_333 * 100) * 100, 3_000)

    def test_a_market_sell_has_its_worst_price(self) -> None:
        sell = replace(RIGHT, side="SELL", order_type="MARKET", size="10", price="0.3")
        order = build_order(TRADING, ADDRESS, sell, now=0, decimals=6)
        self.assertEqual((order["makerAmount"], order["takerAmount"], order["side"]), ("10000000", "3000000", 1))

    def test_amounts_are_exact(self) -> None:
        self.assertEqual(parse("0.62", 18, "x"), 62 * 10**16)
        with self.assertRaises(ValueError):
            parse("0.0000001", 6, "x")


if __name__ == "__main__":
    unittest.main()
