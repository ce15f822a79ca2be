"""What is made of the numbers of private events, without a socket."""
from __future__ import annotations

import unittest
from typing import Any, Dict

from ctf_exchange.position import KNOWN, MISSING, NEW, Position


def event(previous: int, sequence: int) -> Dict[str, Any]:
    return {"previousAccountSequence": previous, "accountSequence": sequence}


class Numbers(unittest.TestCase):
    def setUp(self) -> None:
        self.position = Position()
        self.position.epoch("e1")

    def test_the_first_connection_asks_where_the_events_begin(self) -> None:
        self.assertEqual(Position().resume(), {"lastAccountSequence": None})
        self.position.begin(7)
        self.assertEqual(self.position.resume(), {"lastAccountSequence": 7, "epoch": "e1"})

    def test_an_event_comes_once_and_in_its_place(self) -> None:
        self.position.begin(7)
        taken = [self.position.take(one) for one in (event(7, 9), event(7, 9), event(9, 12), event(20, 21))]
        self.assertEqual(taken, [NEW, KNOWN, NEW, MISSING])
        self.assertEqual(self.position.resume()["lastAccountSequence"], 12)

    def test_events_without_numbers_are_new(self) -> None:
        self.assertEqual([self.position.take({}), self.position.take({})], [NEW, NEW])

    def test_another_epoch_counts_from_where_the_exchange_says(self) -> None:
        self.position.begin(7)
        self.position.epoch("e2")
        self.assertEqual(self.position.resume(), {"lastAccountSequence": 7, "epoch": "e1"})
        self.position.begin(2)
        self.assertEqual(self.position.resume(), {"lastAccountSequence": 2, "epoch": "e2"})


if __name__ == "__main__":
    unittest.main()
