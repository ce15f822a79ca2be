"""How a book heals, step by step, without a socket."""
from __future__ import annotations

import unittest
from typing import Any, Callable, Dict, List, Optional

from ctf_exchange.book import LIVE, RECONNECTING, STALE, Book, checksum_of

EPOCH = "0123456789abcdef"


def snapshot(sequence: int, size: str = "10") -> Dict[str, Any]:
    bids = [("0.5", size)]
    level = {"price": "0.5", "size": size, "orders": 1}
    return {"sequence": sequence, "bids": [level], "asks": [], "checksum": checksum_of(sequence, bids, [])}


def update(before: int, sequence: int, size: str) -> Dict[str, Any]:
    changes = {"bids": [["0.5", size]], "asks": []}
    bids = [] if size == "0" else [("0.5", size)]
    checksum = checksum_of(sequence, bids, [])
    return {"previousSequence": before, "sequence": sequence, "changes": changes, "checksum": checksum}


class Healing(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 100.0
        self.asked: List[Optional[Dict[str, Any]]] = []
        self.book = Book("0x1", lambda _, since: self.asked.append(since), lambda: self.now)

    def acknowledge(self, sequence: int, epoch: str = EPOCH) -> None:
        ack = {"ok": True, "subscribed": [{"conditionId": "0x1", "sequence": sequence}], "epoch": epoch}
        self.book.answered(self.book.question, self.asked[-1], ack)

    def follow(self) -> None:
        self.book.connected()
        self.acknowledge(7)
        self.book.snapshot(snapshot(7))
        self.assertEqual(self.book.state, LIVE)

    def test_a_book_is_live_when_the_promised_snapshot_came(self) -> None:
        self.follow()
        self.assertEqual(self.asked, [None])
        self.book.update(update(7, 9, "12"))
        self.assertEqual((self.book.sequence, self.book.levels("bids")), (9, [("0.5", "12")]))

    def test_an_update_that_the_book_has_already_changes_nothing(self) -> None:
        self.follow()
        self.book.update(update(5, 7, "99"))
        self.assertEqual(self.book.levels("bids"), [("0.5", "10")])

    def test_a_gap_is_noticed_and_what_is_missing_asked_for(self) -> None:
        self.follow()
        self.book.update(update(8, 9, "12"))
        self.assertEqual((self.book.state, self.book.faults["gap"]), (STALE, 1))
        self.book.tick()
        self.assertEqual(self.asked[-1], {"lastSequence": 7, "epoch": EPOCH})

    def test_a_wrong_checksum_is_noticed_and_a_snapshot_asked_for(self) -> None:
        self.follow()
        self.book.update({**update(7, 8, "12"), "checksum": "00000000"})
        self.book.tick()
        self.assertEqual((self.book.state, self.book.faults["checksum"], self.asked[-1]), (STALE, 1, None))
        self.book.update(update(8, 9, "13"))
        self.assertEqual(self.book.state, STALE)
        self.acknowledge(9)
        self.book.snapshot(snapshot(9, "13"))
        self.assertEqual(self.book.state, LIVE)

    def test_a_heartbeat_ahead_of_the_book_is_a_gap(self) -> None:
        self.follow()
        self.book.heartbeat(7)
        self.assertEqual(self.book.state, LIVE)
        self.book.heartbeat(8)
        self.assertEqual((self.book.state, self.book.faults["behind"]), (STALE, 1))

    def test_silence_is_noticed(self) -> None:
        self.follow()
        self.now += 13
        self.book.tick()
        self.assertEqual((self.book.state, self.book.faults["silence"]), (STALE, 1))

    def test_a_book_that_nothing_keeps_is_not_live(self) -> None:
        self.follow()
        # No tick: the thread that calls it may be dead.
        self.now += 13
        self.assertEqual((self.book.state, self.book.view().state), (STALE, STALE))
        self.book.heartbeat(7)
        self.assertEqual(self.book.state, LIVE)

    def test_a_change_is_delivered_once_and_seen_as_the_book_is_by_then(self) -> None:
        calls: List[Callable[[], None]] = []
        seen: List[Optional[int]] = []
        self.book = Book("0x1", lambda _, since: self.asked.append(since), lambda: self.now, lambda _, call: calls.append(call))
        self.book.on_change = lambda: seen.append(self.book.sequence)
        self.follow()
        self.book.update(update(7, 8, "12"))
        self.book.update(update(8, 9, "13"))
        for call in calls:
            call()
        self.assertEqual(seen, [9])
        self.book.update(update(9, 10, "14"))
        calls[-1]()
        self.assertEqual(seen, [9, 10])

    def test_a_promise_that_is_not_kept_is_noticed(self) -> None:
        self.book.connected()
        self.acknowledge(7)
        self.now += 4
        self.book.tick()
        self.assertEqual(self.book.faults["unkept"], 1)

    def test_after_a_reconnect_the_book_resumes_in_its_epoch_and_begins_again_in_another(self) -> None:
        self.follow()
        self.book.disconnected("gone")
        self.assertEqual(self.book.state, RECONNECTING)
        self.book.connected()
        self.assertEqual(self.asked[-1], {"lastSequence": 7, "epoch": EPOCH})
        self.acknowledge(7)
        self.assertEqual(self.book.state, LIVE)
        self.book.disconnected("gone")
        self.book.connected()
        self.acknowledge(7, "another")
        self.assertNotEqual(self.book.state, LIVE)
        self.book.snapshot(snapshot(3))
        self.assertNotEqual(self.book.state, LIVE)

    def test_an_answer_to_an_earlier_question_is_not_heard(self) -> None:
        self.book.connected()
        self.book.disconnected("gone")
        self.book.answered(1, None, {"ok": True, "subscribed": [{"sequence": 0}], "epoch": EPOCH})
        self.assertEqual(self.book.state, RECONNECTING)


if __name__ == "__main__":
    unittest.main()
