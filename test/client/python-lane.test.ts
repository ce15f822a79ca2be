import { startProgram } from '../support/processes';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type TypedClients } from '../support/typed-clients';
import { type FrameProxy, startFrameProxy } from './frame-proxy';
import { hasPython, PACKAGE, PYTHON } from './python-maker';

/** Messages of the Python client whose acknowledgements are lost, and its lane without account events. */
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
import sys, threading, time
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

async function outputOf(program: string): Promise<string[]> {
  const started = startProgram(PYTHON, ['-c', BEGIN + program, stage.url(), proxy.url, market.id], {
    PYTHONPATH: PACKAGE,
  });
  expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
  return started.stdout().trim().split('\n');
}

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
  const list = 'cancel_many takes a list of order hashes';
  expect(many).toEqual([list, list, list, '3 0']);
});
