"""Transactions of a wallet, and the errors that ask for them."""
from __future__ import annotations

import unittest

from ctf_exchange import ExchangeError, Wallet, calls_of
from ctf_exchange.outcome import resolved
from ctf_exchange.wallet import rlp

CALLS = [{"to": "0x" + "11" * 20, "data": "0x", "description": "Split"}]


class Transactions(unittest.TestCase):
    def test_the_example_of_eip_155(self) -> None:
        signed = Wallet("0x" + "46" * 32).sign_transaction(
            chain_id=1, nonce=9, gas_price=20 * 10**9, gas_limit=21_000, to="0x" + "35" * 20, data="0x", value=10**18
        )
        self.assertEqual(
            signed,
            "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025"
            "a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
            "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83",
        )

    def test_long_values_have_the_length_of_their_length(self) -> None:
        self.assertEqual(rlp(b"a" * 56)[:2].hex(), "b838")
        self.assertEqual(rlp([b"a" * 300])[:6].hex(), "f9012fb9012c")
        self.assertEqual([rlp(0).hex(), rlp(127).hex(), rlp(128).hex()], ["80", "7f", "8180"])

    def test_only_on_chain_has_calls(self) -> None:
        refusal = ExchangeError("ON_CHAIN", "do it", status=409, problem={"calls": CALLS})
        self.assertEqual(calls_of(refusal), CALLS)
        self.assertIsNone(calls_of(ExchangeError("MARKET_NOT_OPEN", "closed", status=409, problem={"calls": CALLS})))
        self.assertIsNone(calls_of(ValueError()))

    def test_a_refusal_of_a_closed_exchange_has_booked_nothing(self) -> None:
        for code in ("CANCEL_ONLY", "HALTED", "BACKLOG"):
            refusal = ExchangeError(code, "wait", status=503, problem={"retryable": True})
            self.assertEqual((refusal.is_outcome_unknown, refusal.is_worth_another), (False, True))
        self.assertTrue(ExchangeError("UNAVAILABLE", "again", status=503).is_outcome_unknown)
        self.assertTrue(ExchangeError("REQUEST_TIMEOUT", "late", status=408).is_outcome_unknown)

    def test_an_unknown_outcome_says_what_the_last_attempt_was(self) -> None:
        def attempt() -> None:
            raise ExchangeError("UNAVAILABLE", "Redis does not answer", status=503, problem={"retryable": True})

        with self.assertRaises(ExchangeError) as raised:
            resolved(attempt, {}, 0.01)
        self.assertRegex(str(raised.exception), r"^OUTCOME_UNKNOWN: .*\(last: 503, UNAVAILABLE, Redis does not answer\)$")
