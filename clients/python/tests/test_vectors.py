"""The client against docs/vectors.json, which the exchange's own code is held against, too."""
from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from ctf_exchange import Wallet, checksum_of, order_digest, siwe_text
from ctf_exchange.amounts import parse, text_of
from ctf_exchange.orders import NewOrder, build_order
from ctf_exchange.wallet import checksum_address, domain_separator, message_digest, struct_hash

VECTORS = json.loads((Path(__file__).parents[3] / "docs" / "vectors.json").read_text())
WALLETS = {name: Wallet(key["privateKey"]) for name, key in VECTORS["keys"].items()}
DOMAIN = VECTORS["domain"]


def hex_of(data: bytes) -> str:
    return "0x" + data.hex()


class Vectors(unittest.TestCase):
    def test_the_addresses_and_the_domain(self) -> None:
        for name, key in VECTORS["keys"].items():
            self.assertEqual(WALLETS[name].address, key["address"])
            self.assertEqual(checksum_address(key["address"].lower()), key["address"])
        self.assertEqual(hex_of(domain_separator(DOMAIN)), VECTORS["domainSeparator"])

    def test_the_hashes_and_signatures_of_the_right_orders(self) -> None:
        for vector in VECTORS["orders"]:
            order, wallet = vector["order"], WALLETS[vector["signer"]]
            self.assertEqual(hex_of(struct_hash(order)), vector["structHash"], vector["name"])
            self.assertEqual(hex_of(order_digest(DOMAIN, order)), vector["orderHash"], vector["name"])
            self.assertEqual(wallet.sign_order(DOMAIN, order), vector["signature"], vector["name"])

    def test_a_wrong_signature_is_not_the_one_of_the_client(self) -> None:
        refused = [one for one in VECTORS["wrongOrders"] if one["refusal"]["code"] == "INVALID_SIGNATURE"]
        self.assertGreater(len(refused), 8)
        for vector in refused:
            order = {name: value for name, value in vector["order"].items() if name != "signature"}
            right = WALLETS["alice"].sign_order(DOMAIN, order)
            if vector["name"] != "signer is not maker":
                self.assertNotEqual(right, vector["order"]["signature"], vector["name"])

    def test_the_client_builds_the_first_order_but_for_its_salt(self) -> None:
        first = VECTORS["orders"][0]["order"]
        limits = {"feeRateBps": 0, "lotSize": "0.01", "maxOrderSize": "1000000"}
        trading: Any = {"market": {"outcomes": [{"tokenId": first["tokenId"]}]}, "limits": limits}
        order = NewOrder(outcome_index=0, side="BUY", price="0.62", size="100")
        built = build_order(trading, first["maker"], order, now=0)
        self.assertNotEqual(built["salt"], build_order(trading, first["maker"], order, now=0)["salt"])
        self.assertEqual(build_order(trading, first["maker"], order, now=0, salt=int(first["salt"])), first)

    def test_amounts_keep_every_digit(self) -> None:
        self.assertEqual(parse("0.1", 18, "x"), 10**17)
        self.assertEqual([text_of(amount, 6) for amount in (0, 1, 1_500_000, 62 * 10**6)], ["0", "0.000001", "1.5", "62"])

    def test_the_message_of_the_sign_in(self) -> None:
        told = VECTORS["signIn"]
        self.assertEqual(siwe_text(told["challenge"]), told["message"])
        self.assertEqual(hex_of(message_digest(told["message"])), told["digest"])
        self.assertEqual(WALLETS["alice"].sign_message(told["message"]), told["signature"])

    def test_the_checksums_of_books(self) -> None:
        right = set()
        for book in VECTORS["books"]:
            bids, asks = ([tuple(level) for level in book[side]] for side in ("bids", "asks"))
            self.assertEqual(checksum_of(book["sequence"], bids, asks), book["checksum"], book["name"])
            right.add(book["checksum"])
        self.assertFalse(right & {book["checksum"] for book in VECTORS["wrongBooks"]})


if __name__ == "__main__":
    unittest.main()
