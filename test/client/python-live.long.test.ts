import { spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { blocksFor } from '../support/page-commands';
import { startProgram } from '../support/processes';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type TypedClients } from '../support/typed-clients';
import { type FrameProxy, startFrameProxy } from './frame-proxy';
import { hasPython, PACKAGE, PYTHON } from './python-maker';

/**
 * The socket of the Python client: lost acknowledgements, handlers that raise or take too long, the order of its messages, the
 * reasons of its ends. Its own tests, which need no exchange, run here, too.
 */
const ifPython = hasPython ? test : test.skip;
const PROGRAM_MS_MAX = 60_000;
/** The client waits 5 s for an acknowledgement. */
const LOST_SECONDS_MAX = 8;
const CUT_SECONDS_MAX = 3;

let stage: TypedClients;
let market: OpenMarket;
let proxy: FrameProxy;
beforeAll(async () => {
  stage = await startTypedClients();
  market = await stage.market();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  proxy = await startFrameProxy(stage.port());
});
afterEach(() => proxy.stop());

/** The HTTP of the client goes past the proxy. `timed` answers a result, the seconds, and the HTTP requests about orders. */
const BEGIN = `
import logging, sys, threading, time
from ctf_exchange import Client, Live, NewOrder, Wallet
client = Client(sys.argv[1], Wallet())
trading = client.trading(sys.argv[3])
client.base_url = sys.argv[2]
by_http, errors = [], []
send = client._transport.send
def noted(method, path, **more):
    if method == "POST" and "/orders" in path:
        by_http.append(path)
    return send(method, path, **more)
live = Live(client)
ask = live.ask
def noted_ask(*message):
    try:
        return ask(*message)
    except Exception as error:
        errors.append(str(error))
        raise
live.ask = noted_ask
connected = threading.Semaphore(0)
live.on("connect", lambda _: connected.release())
live.on("order:update", lambda _: print("order:update", flush=True))
market = sys.argv[3]
bid = lambda price: NewOrder(0, "BUY", "10", price)
first, second, third = [client.place(trading, bid(price))["orderHash"] for price in ("0.3", "0.31", "0.32")]
status = lambda order: client.order(order)["status"]
client._transport.send = noted
client.use_socket(live)
def timed(act):
    by_http.clear()
    began = time.monotonic()
    answer = act()
    return answer, time.monotonic() - began, len(by_http)
`;

async function outputOf(program: string, ...more: string[]): Promise<string[]> {
  const args = ['-c', BEGIN + program, stage.url(), proxy.url, market.id, ...more];
  const started = startProgram(PYTHON, args, { PYTHONPATH: PACKAGE });
  expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
  return started.stdout().trim().split('\n');
}

ifPython('the Python client passes its own tests: vectors, books, and wrong input of every kind', () => {
  const { status, stderr } = spawnSync(PYTHON, ['-m', 'unittest', 'discover', '-s', 'tests'], {
    cwd: PACKAGE,
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: PACKAGE },
  });
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^Ran \d{2,} tests/m)]);
});

const CANCELS = `
live.start()
connected.acquire()
answer, seconds, requests = timed(lambda: client.cancel(first))
print(answer["cancelled"], status(first), seconds < ${LOST_SECONDS_MAX}, requests)
connected.acquire()
_, seconds, requests = timed(lambda: client.cancel_many([second]))
print(status(second), seconds < ${CUT_SECONDS_MAX}, requests)
connected.acquire()
answer, seconds, requests = timed(lambda: client.cancel_all())
print(len(answer["cancelled"]), status(third), requests)
print(*errors, sep="\\n")
live.close()
`;

ifPython(
  'a cancel whose acknowledgement is lost goes again by HTTP, at once when the connection is cut',
  async () => {
    // Socket.IO's acknowledgements begin with 43.
    proxy.filter((text) => {
      if (!text.startsWith('43') || proxy.connections() > 2) return text;
      if (proxy.connections() === 2) setImmediate(proxy.cut);
      return null;
    });
    const lines = (await outputOf(CANCELS)).filter((line) => line !== 'order:update');
    expect(lines).toEqual([
      // The lost message had cancelled it.
      'False CANCELLED True 1',
      'CANCELLED True 1',
      '1 CANCELLED 0',
      'NETWORK: 5 s passed without an acknowledgement of order:cancel: its outcome is unknown',
      'NETWORK: the connection closed without an acknowledgement of orders:cancel: its outcome is unknown',
    ]);
  },
  PROGRAM_MS_MAX,
);

const PLACES = `
live.start()
connected.acquire()
answer, seconds, requests = timed(lambda: client.place(trading, bid("0.2")))
print(answer["status"], seconds < ${LOST_SECONDS_MAX}, requests, len(client.orders(status="open")["data"]))
live.close()
`;

ifPython(
  'an order whose acknowledgement is lost is booked once, and known after one wait',
  async () => {
    proxy.filter((text) => (text.startsWith('43') ? null : text));
    expect((await outputOf(PLACES)).filter((line) => line !== 'order:update')).toEqual(['OPEN True 1 4']);
  },
  PROGRAM_MS_MAX,
);

const WITHOUT_EVENTS = `
live = Live(client, account_events=False)
live.on("connect", lambda _: connected.release())
live.on("order:update", lambda _: print("order:update", flush=True))
live.start()
connected.acquire()
client.use_socket(live)
answer, seconds, requests = timed(lambda: client.cancel_all())
time.sleep(1)
print(len(answer["cancelled"]), requests)
live.close()
`;

ifPython(
  'a Live without account events takes orders, and has none of the events',
  async () => {
    expect(await outputOf(WITHOUT_EVENTS)).toEqual(['3 0']);
  },
  PROGRAM_MS_MAX,
);

const WRONG = `
for act in (
    lambda: client.cancel_all(marketId="a"),
    lambda: client.cancel_all(side="BUY"),
    lambda: client.cancel_all("a", outcomeIndex=None),
    lambda: client.cancel_many(None),
    lambda: client.cancel_many("0x00"),
    lambda: client.cancel_many([None]),
):
    try:
        act()
        print("not refused")
    except ValueError as error:
        print(error)
print(len(client.orders(status="open")["data"]), len(by_http))
`;

ifPython('cancels with arguments that mean nothing are refused, and cancel nothing', async () => {
  const [misspelt, needs, none, ...many] = await outputOf(WRONG);
  const takes = 'cancel_all takes market, outcomeIndex (0 or 1) and side (BUY or SELL), not';
  expect([misspelt, needs, none]).toEqual([
    `${takes} marketId='a'`,
    'outcomeIndex and side need a market',
    `${takes} outcomeIndex=None`,
  ]);
  expect(many).toEqual([
    'order_hashes must be a list of 1 to 100, not None',
    "order_hashes must be a list of 1 to 100, not '0x00'",
    'each of order_hashes must be 0x and 64 hexadecimal digits, not None',
    '3 0',
  ]);
});

/** `until` waits for a state; `make` replaces the Live of the beginning, and follows the book. */
const FOLLOW = `
def until(what, holds):
    give_up = time.monotonic() + 30
    while not holds():
        if time.monotonic() > give_up:
            raise AssertionError(f"not within 30 s: {what}")
        time.sleep(0.01)
def make(**options):
    global live, book
    live = Live(client, **options)
    client.use_socket(live)
    book = live.watch(trading["market"]["conditionId"])
    return live
client.cancel_all()
`;

const RAISES = `${FOLLOW}
errors, seen = [], []
make(on_error=lambda event, error: errors.append(f"{event} {error}"))
def raises_once(order):
    seen.append(order["status"])
    if len(seen) == 1:
        raise ValueError("a bug in the bot")
live.on("order:update", raises_once)
live.start()
until("the book is live", lambda: book.state == "live")
for price in ("0.13", "0.14"):
    client.place(trading, bid(price))
until("both are handled", lambda: len(seen) == 2)
until("the book has both", lambda: {("0.13", "10"), ("0.14", "10")} <= set(book.levels("bids")))
print(book.state, errors, live.connections)
live.close()
`;

ifPython('a handler that raises is reported, and the feed goes on', async () => {
  expect(await outputOf(RAISES)).toEqual(["live ['order:update a bug in the bot'] 1"]);
});

const BLOCKS = `${FOLLOW}
make(cancel_on_disconnect=True, handler_seconds_max=float(sys.argv[4]))
entered, release, ends = threading.Event(), threading.Event(), []
def block(_):
    entered.set()
    release.wait()
live.on("order:update", block)
live.on("disconnect", lambda end: ends.append(end["reason"]))
live.start()
until("the book is live", lambda: book.state == "live")
client.place(trading, bid("0.2"))
entered.wait()
`;

const KEEPS = `${BLOCKS}
client.place(trading, bid("0.15"))
until("the book is kept", lambda: ("0.15", "10") in book.levels("bids"))
print(book.state, live.connections)
release.set()
live.close()
`;

ifPython('a handler that blocks does not hold up the book, nor what answers the pings', async () => {
  expect(await outputOf(KEEPS, '30')).toEqual(['live 1']);
});

const SWITCHED = `${BLOCKS}
logging.getLogger("ctf_exchange").disabled = True
until("the book is not live", lambda: book.state == "reconnecting")
until("the switch has fired", lambda: not client.orders(status="open")["data"])
print(book.state, live.connections, client.orders(limit=1)["data"][0]["reason"])
release.set()
until("another connection", lambda: live.connections == 2 and book.state == "live")
print(*ends)
live.close()
`;

ifPython(
  'a handler that blocks for the stated time ends the connection, and the switch fires before there is another',
  async () => {
    expect(await outputOf(SWITCHED, '0.5')).toEqual([
      'reconnecting 1 DISCONNECT',
      'an event was not handled within 0.5 s: a handler takes too long',
    ]);
  },
  PROGRAM_MS_MAX,
);

const ORDERED = `${FOLLOW}
sys.setswitchinterval(1e-6)
make()
numbers, ended = [], set()
def note(order):
    numbers.append(order["accountSequence"])
    if order["status"] == "CANCELLED":
        ended.add(order["orderHash"])
live.on("order:update", note)
live.start()
until("the book is live", lambda: book.state == "live")
client.batch(trading, [bid(f"0.{price}") for price in range(20, 40)])
client.cancel_all()
until("all are cancelled", lambda: len(ended) == 20)
print(numbers == sorted(numbers), live.connections, dict(book.faults))
live.close()
`;

ifPython('messages are handled in the order in which they came', async () => {
  expect(await outputOf(ORDERED)).toEqual(['True 1 {}']);
});

const ENDS = `${FOLLOW}
make()
ends, refusals, whys = [], [], []
live.on("disconnect", ends.append)
live.on("connect_error", refusals.append)
book.on_state = lambda state, why: whys.append((state, why))
live.start()
until("the book is live", lambda: book.state == "live")
client.sessions.sign_out()
until("the first end", lambda: len(ends) == 1)
until("the book is live again", lambda: book.state == "live" and live.connections == 2)
client.place(trading, bid("0.29"))
until("the second end", lambda: len(ends) == 2)
print(ends[0])
print([why for state, why in whys if state == "reconnecting"][0])
print(ends[1]["code"], len(ends[1]["reason"]) > 0)
client.base_url = "http://127.0.0.1:1"
live._connection.close("for the test")
until("a refusal", lambda: refusals)
print(refusals[0]["code"], "refused" in refusals[0]["detail"])
live.close()
`;

ifPython(
  'the reason of an end and the code of its close frame reach the handlers',
  async () => {
    proxy.filter((text) => {
      if (text.includes('"0.29"')) setImmediate(proxy.cut);
      return text;
    });
    expect(await outputOf(ENDS)).toEqual([
      "{'code': 1005, 'reason': 'TOKEN_INVALID: The token is not valid'}",
      'the connection was lost: TOKEN_INVALID: The token is not valid',
      'None True',
      'NETWORK True',
    ]);
  },
  PROGRAM_MS_MAX,
);

/** A load balancer that has the exchange below a path, and may answer a request itself. */
async function startBalancer(port: number, prefix: string, refuses: (path: string) => boolean = () => false) {
  const server = createServer((incoming, answer) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
    if (refuses(url)) return void answer.writeHead(429, { 'Retry-After': '1' }).end();
    const path = url.slice(prefix.length);
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  server.on('upgrade', ({ url = '', rawHeaders }, client) => {
    if (!url.startsWith(`${prefix}/`)) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    upstream.write(`GET ${url.slice(prefix.length)} HTTP/1.1\r\n${lines.join('')}\r\n`);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}${prefix}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const BELOW = `
client = Client(sys.argv[4] + "/", Wallet())
live = Live(client)
live.on("connect", lambda _: connected.release())
live.start()
connected.acquire()
client.use_socket(live)
print(client.place(trading, bid("0.2"))["status"], client.base_url.endswith("/exchange"))
live.close()
client.close()
`;

ifPython('HTTP and the socket work below a path of a host', async () => {
  const below = await startBalancer(stage.port(), '/exchange');
  expect(await outputOf(BELOW, below.url)).toEqual(['OPEN True']);
  await below.stop();
});

const LIMITED = `
began = time.monotonic()
client = Client(sys.argv[4], Wallet())
print(client.balances()["collateral"]["reserved"], time.monotonic() - began >= 1)
`;

ifPython('a sign-in that is refused by a limit waits for its Retry-After', async () => {
  let refused = 0;
  const limited = await startBalancer(
    stage.port(),
    '/limited',
    (path) => path.includes('/auth/nonce') && refused++ === 0,
  );
  expect(await outputOf(LIMITED, limited.url)).toEqual(['0 True']);
  expect(refused).toBe(2);
  await limited.stop();
});

/** Asks at 0.3 and at 0.6 are bids for No at 0.7 and at 0.4. */
const MARKET_ORDERS = `
trading = client.trading(sys.argv[4])
maker = Client(sys.argv[1], Wallet())
for price in ("0.7", "0.4"):
    maker.place(trading, NewOrder(1, "BUY", "10", price))
taken = client.place(trading, NewOrder(0, "BUY", price="0.5", budget="10", order_type="MARKET"))
ahead = int(client.order(taken["orderHash"])["expiration"]) - client.server_time()
print(taken["filledSize"], taken["averagePrice"], 290 < ahead <= 300)
rest = client.place(trading, NewOrder(0, "BUY", price="0.6", budget="1.5", order_type="MARKET"))
print(rest["filledSize"], rest["status"])
maker.place(trading, NewOrder(0, "BUY", "20", "0.32"))
sold = client.place(trading, NewOrder(0, "SELL", "12.5", "0.32", order_type="MARKET"))
print(sold["filledSize"], sold["averagePrice"])
for order_type in ("IOC", "FOK", "GTC", "POST_ONLY"):
    body = client.sign(trading, NewOrder(0, "BUY", "1", "0.01", order_type=order_type))
    print(290 < int(body["order"]["expiration"]) - client.server_time() <= 300, body["order"]["expiration"] == "0")
`;

ifPython(
  'a MARKET BUY spends its budget up to its worst price, and what never rests expires in 300 s',
  async () => {
    const { id } = await stage.market();
    expect(await outputOf(MARKET_ORDERS, id)).toEqual([
      ...['10 0.3 True', '2.5 FILLED', '12.5 0.32'],
      ...['True False', 'True False', 'False True', 'False True'],
    ]);
  },
);

const REPLACES = `
body = client.sign(trading, bid("0.33"))
known = client.hash_of(trading, body)
answer = client.submit_replacement(market, first, body)
print(answer["orderHash"] == known, answer["replaced"]["orderHash"] == first, status(first))
print(client.submit_replacement(market, first, body)["orderHash"] == known, len(client.orders(status="open")["data"]))
`;

ifPython(
  'a replacement is signed first, so that its hash can be written down, and sent again without harm',
  async () => {
    expect(await outputOf(REPLACES)).toEqual(['True True CANCELLED', 'True 3']);
  },
);

const NEVER_SENT = `
from ctf_exchange import ExchangeError
def fails(act):
    try:
        act()
    except ExchangeError as error:
        print(error.code, error.was_sent, error.signed is None)
nowhere = Client("http://127.0.0.1:1", Wallet(), resolve_seconds=1)
nowhere._decimals, nowhere._clock_read_at = client.decimals(), time.monotonic()
fails(lambda: nowhere.place(trading, bid("0.2")))
# The exchange is there, but no sign-in is possible.
apart = Client(sys.argv[4], Wallet(), resolve_seconds=1)
fails(lambda: apart.replace(trading, first, bid("0.2")))
`;

ifPython('an order that was never sent has no unknown outcome', async () => {
  const apart = await startBalancer(stage.port(), '/apart', (path) => path.includes('/auth/'));
  expect(await outputOf(NEVER_SENT, apart.url)).toEqual(['NETWORK False True', 'NETWORK False True']);
  await apart.stop();
});

test.each(
  blocksFor('clients/python/README.md', 'test/client/python-live.long.test.ts').map(({ line, text }) => [
    line,
    text,
  ]),
)(
  'the program of clients/python/README.md:%d runs',
  async (_line, text) => {
    if (!hasPython) return;
    const started = startProgram(PYTHON, ['-c', `${text}`.replace('http://localhost:3000', stage.url())], {
      PYTHONPATH: PACKAGE,
    });
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    // It ends after the last event that it waits for.
    if (`${text}`.includes('Live(')) expect(started.stdout()).toMatch(/ CANCELLED$/m);
  },
  PROGRAM_MS_MAX,
);
