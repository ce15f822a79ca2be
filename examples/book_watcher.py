# Keeps a market's book in step over Socket.IO, proves each step by its checksum and heals by itself. Ctrl-C ends it.
# apt-get install python3-socketio python3-websocket; npm start, then: /usr/bin/python3 examples/book_watcher.py [market]
import json
import os
import queue
import sys
import urllib.request
import zlib

import socketio

BASE_URL = os.environ.get("BASE_URL", "http://localhost:3000")
# A heartbeat comes every 5 s: without a word for longer, the book may be out of date.
SILENCE_SECONDS = 12
CHECKSUM_LEVELS = 25
SHOWN_LEVELS = 5


def get(path):
    with urllib.request.urlopen(BASE_URL + path, timeout=10) as answer:
        return json.load(answer)


class Book:
    """The Yes book: decimal strings as they came, so that the checksum is of the same text."""

    def __init__(self, snapshot):
        self.sequence = snapshot["sequence"]
        self.sides = {
            side: {level["price"]: level["size"] for level in snapshot[side]} for side in ("bids", "asks")
        }

    def best(self, side):
        return sorted(self.sides[side].items(), key=lambda level: float(level[0]), reverse=side == "bids")

    def apply(self, update):
        for side, changes in update["changes"].items():
            for price, size in changes:
                if size == "0":
                    self.sides[side].pop(price, None)
                else:
                    self.sides[side][price] = size
        self.sequence = update["sequence"]

    def checksum(self):
        def text(side):
            return ",".join(f"{price}:{size}" for price, size in self.best(side)[:CHECKSUM_LEVELS])

        whole = f"{self.sequence}|b:{text('bids')}|a:{text('asks')}"
        return f"{zlib.crc32(whole.encode()):08x}"


def show(market, book):
    print(f"{market['question']} Yes, sequence {book.sequence}", flush=True)
    for side in ("bids", "asks"):
        levels = "  ".join(f"{size} @ {price}" for price, size in book.best(side)[:SHOWN_LEVELS])
        print(f"  {side}: {levels}", flush=True)


def main():
    market = get(f"/markets/{sys.argv[1]}") if len(sys.argv) > 1 else get("/markets?status=OPEN&limit=1")["data"][0]
    condition = market["conditionId"]
    client, inbox, book, epoch = socketio.Client(), queue.Queue(), None, None
    for event in ("connect", "orderbook:snapshot", "orderbook:update", "heartbeat", "epoch", "disconnect"):
        client.on(event, lambda *body, event=event: inbox.put((event, body[0] if body else None)))

    def resubscribe():
        message = {"conditionId": condition}
        # In another epoch the same number may mean another book, so one is of no use without the other.
        if book is not None and epoch is not None:
            message.update(lastSequence=book.sequence, epoch=epoch)
        client.emit("subscribe", message, callback=lambda answer: inbox.put(("answer", answer)))

    client.connect(BASE_URL, transports=["websocket"])
    while True:
        try:
            event, body = inbox.get(timeout=SILENCE_SECONDS)
        except queue.Empty:
            event, body = "silence", None
        if event == "connect":
            resubscribe()
        elif event in ("disconnect", "silence"):
            print(f"-- {event}: this book may be out of date", flush=True)
            if event == "silence" and client.connected:
                resubscribe()
        elif event == "answer":
            # A refused request is sent again after the silence that follows it.
            epoch = body.get("epoch")
        elif event == "epoch":
            print("-- the exchange may have lost its latest writes: begins again", flush=True)
            book, epoch = None, None
            resubscribe()
        elif event == "orderbook:snapshot":
            book = Book(body)
            show(market, book)
        elif event == "heartbeat" and book is not None and body["sequence"] > book.sequence:
            resubscribe()
        elif event == "orderbook:update" and book is not None and body["sequence"] > book.sequence:
            if body["previousSequence"] > book.sequence:
                resubscribe()
                continue
            book.apply(body)
            if book.checksum() == body["checksum"]:
                show(market, book)
            else:
                print("-- the checksum does not fit: begins again", flush=True)
                book = None
                resubscribe()


try:
    main()
except KeyboardInterrupt:
    # The threads of the connection do not end by themselves.
    os._exit(0)
