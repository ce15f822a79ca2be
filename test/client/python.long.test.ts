import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectLive, createClient } from 'ctf-exchange-client';
import { startProgram } from '../support/processes';
import { startProxy } from '../support/proxy';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { hasPython, type MakerStory, PACKAGE, PYTHON, startMakerStory } from './python-maker';

/** Skipped only without the packages. */
const ifPython = hasPython ? test : test.skip;
/** The length of the story, in which a web process is killed at intervals and Redis twice; with PYTHON_DEMO=1 the demo trades beside it. */
const SECONDS = Number(process.env.PYTHON_SECONDS ?? 60);
const KILL_EVERY_MS = Number(process.env.PYTHON_KILL_SECONDS ?? 10) * 1_000;
const TAKE_EVERY_MS = 700;
const STORY_MS_MAX = 400_000;

const python = (...args: string[]) =>
  spawnSync(PYTHON, args, { cwd: PACKAGE, encoding: 'utf8', env: { ...process.env, PYTHONPATH: PACKAGE } });

/** Half a minute: only in the long form. */
const hasMypy = SECONDS > 0 && spawnSync('mypy', ['--version']).status === 0;
(hasPython && hasMypy ? test : test.skip)('the types of the Python client hold', () => {
  const { status, stdout } = spawnSync('mypy', ['--cache-dir', '/dev/null'], {
    cwd: PACKAGE,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('Success')]);
  const misuse = [
    'from ctf_exchange import Client, NewOrder',
    'client = Client()',
    'client.balances()["colateral"]',
    'NewOrder(0, "buy")',
    'NewOrder(0, "BUY", 10, "0.5")',
    'NewOrder(0, "BUY", "10", 0.5)',
    'client.markets(state="OPEN")',
  ].join('\n');
  const folder = mkdtempSync(path.join(tmpdir(), 'misuse-'));
  const file = path.join(folder, 'misuse.py');
  writeFileSync(file, misuse);
  const wrong = spawnSync('mypy', ['--cache-dir', '/dev/null', file], {
    cwd: PACKAGE,
    encoding: 'utf8',
    env: { ...process.env, MYPYPATH: PACKAGE },
  });
  rmSync(folder, { recursive: true });
  expect(wrong.stdout.match(/misuse\.py:\d+: error/g)).toHaveLength(5);
});

ifPython(
  'the page of the Python client names every method of the TypeScript client, and what there is for it',
  () => {
    const page = readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
    const table = page.split('## The TypeScript client')[1] ?? '';
    const rows = [...table.matchAll(/^\| (`.*) \| (.*) \|$/gm)];
    const named = (column: number): string[] =>
      rows.flatMap((row) => [...(row[column] ?? '').matchAll(/`([\w.]+)[`(]/g)].map(([, name = '']) => name));
    const live = connectLive({ baseUrl: 'http://127.0.0.1:1' });
    const methods = new Set([...Object.keys(createClient({ baseUrl: '' })), ...Object.keys(live)]);
    live.close();
    expect(new Set(named(1))).toEqual(methods);
    const program = [
      ...[
        'import operator, sys',
        'from ctf_exchange import Client, Live',
        'client = Client()',
        'live = Live(client, private=False)',
      ],
      'for name in sys.argv[1:]:',
      '    owner = client if hasattr(client, name.split(".")[0]) else live',
      '    operator.attrgetter(name)(owner)',
    ].join('\n');
    const { status, stderr } = python('-c', program, ...named(2));
    expect([status, stderr]).toEqual([0, '']);
  },
);

/** Follows the list of markets and one book, and says what it hears. */
const WATCHER = `
import sys, threading
from ctf_exchange import Client, Live, Wallet
client = Client(sys.argv[1], Wallet())
live = Live(client)
over = threading.Event()
def new(market):
    print("new", market["id"], flush=True)
    over.set()
live.watch_markets(on_new=new)
live.on("account:resumed", lambda begun: print("resumed", begun["resumed"], flush=True))
book = live.watch(sys.argv[2])
book.on_state = lambda state, why: print("book", state, flush=True)
live.start()
print("portfolio", *sorted(client.portfolio("1d")), flush=True)
print("leaderboard", *sorted(client.leaderboard(limit=5)), flush=True)
over.wait()
live.close()
`;

/** Almost the time-out of a client as it comes. */
const LOST_SECONDS = 9;
const REFRESHES = `
import sys
from ctf_exchange import Client, Wallet
sessions, signed = [], []
class Noted(Wallet):
    def sign_message(self, text):
        signed.append(text)
        return super().sign_message(text)
client = Client(sys.argv[1], Noted(), timeout=float(sys.argv[2]), on_session=sessions.append)
client.balances()
client.sessions._expires_at = 0.0
print(len(signed), "sign-in, ", end="")
reserved = client.balances()["collateral"]["reserved"]
print(f"{len(sessions)} sessions, {reserved}")
assert len(signed) == 1
`;

/** Places, replaces, refuses and cancels over the socket; says which of its requests about orders went by HTTP. */
const OVER_SOCKET = `
import sys, threading
from ctf_exchange import Client, ExchangeError, Live, NewOrder, Wallet
client = Client(sys.argv[1], Wallet())
by_http = []
send = client._transport.send
def noted(method, path, **more):
    if method == "POST" and "/orders" in path:
        by_http.append(path)
    return send(method, path, **more)
client._transport.send = noted
live = Live(client)
connected = threading.Event()
live.on("connect", lambda _: connected.set())
live.start()
connected.wait()
client.use_socket(live)
trading = client.trading(sys.argv[2])
bid = lambda price, size="10": NewOrder(0, "BUY", size, price)
first = client.place(trading, bid("0.3"))
second = client.replace(trading, first["orderHash"], bid("0.31"))
statuses = [result["status"] for result in client.batch(trading, [bid("0.2"), bid("0.5", "999999999")])]
try:
    client.place(trading, bid("0.5", "999999999"))
except ExchangeError as error:
    statuses += [error.status, error.code]
print(*statuses, client.cancel(second["orderHash"])["cancelled"], len(client.cancel_all()["cancelled"]))
print("by HTTP", *by_http)
live.close()
client.place(trading, bid("0.3"))
print("by HTTP", len(by_http))
`;

/** The first attempt arrives after the second one was refused, when there is an order that it fills. Then one is lost. */
const LATE = `
import sys, time
from ctf_exchange import Client, ExchangeError, NewOrder, Wallet
client, maker = Client(sys.argv[1], Wallet()), Client(sys.argv[1], Wallet())
trading = client.trading(sys.argv[2])
send = client._transport.send
def lose():
    late, seen = [], []
    def troubled(method, path, **more):
        if not path.endswith("/orders"):
            return send(method, path, **more)
        if not late:
            late.append(more)
            raise ExchangeError("NETWORK", "connection reset")
        try:
            answer = send(method, path, **more)
            seen.append(answer["status"])
            return answer
        except ExchangeError as error:
            # A busy machine may answer 503 in between.
            if error.code != "UNAVAILABLE":
                seen.append(error.code)
            if arrives and error.code == "FOK_NOT_FILLED" and len(late) == 1:
                maker.place(trading, NewOrder(1, "BUY", "10", "0.6"))
                late.append(send(method, path, **late[0]))
            raise
    client._transport.send = troubled
    return seen
order = NewOrder(0, "BUY", "10", "0.4", order_type="FOK")
arrives, seen = True, lose()
print(client.place(trading, order)["status"], *seen)
arrives, began = False, time.monotonic()
lose()
try:
    client.place(trading, order)
except ExchangeError as error:
    print(error.code, time.monotonic() - began > 5)
`;

describe('the Python client works with a real exchange', () => {
  let story: MakerStory | undefined;
  beforeAll(async () => {
    if (hasPython) story = await startMakerStory({ withDemo: process.env.PYTHON_DEMO === '1' });
  }, STORY_MS_MAX);
  afterAll(() => story?.stop());

  ifPython(
    'a program hears of a new market, asks where its private events begin, and reads its portfolio and the leaderboard',
    async () => {
      if (!story) throw new Error('the story has not begun');
      const started = startProgram(PYTHON, ['-c', WATCHER, story.url, story.market.conditionId], {
        PYTHONPATH: PACKAGE,
      });
      const told = { explain: started.stderr, isLost: () => started.child.exitCode !== null };
      // The messages of a socket are served one after the other, and the list was asked for first.
      await until('the book is live', () => started.stdout().includes('book live'), told);
      const { id } = await story.openMarket();
      expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
      const lines = started.stdout().trim().split('\n');
      expect(lines).toEqual(
        expect.arrayContaining([
          ...[
            `new ${id}`,
            'resumed False',
            'portfolio cash history pnl positionsValue reserved value',
            'leaderboard asOf data endsAt startsAt',
          ],
        ]),
      );
    },
  );

  ifPython('a lost answer of a refresh is asked for again, and the session goes on', async () => {
    if (!story) throw new Error('the story has not begun');
    const proxy = await startProxy(Number(new URL(story.url).port));
    proxy.holdRepliesFrom([Buffer.from('/auth/refresh')]);
    const url = `http://127.0.0.1:${proxy.port}`;
    const started = startProgram(PYTHON, ['-c', REFRESHES, url, String(LOST_SECONDS)], {
      PYTHONPATH: PACKAGE,
    });
    await until('the refresh has come', proxy.isHolding, { explain: started.stderr });
    // The program gives up its first attempt meanwhile, and begins another.
    await sleep(LOST_SECONDS * 1_000 + 500);
    proxy.heal();
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(started.stdout().trim()).toBe('1 sign-in, 2 sessions, 0');
    await proxy.stop();
  });

  ifPython('a program sends its orders over the socket, and by HTTP when the socket is closed', async () => {
    if (!story) throw new Error('the story has not begun');
    const started = startProgram(PYTHON, ['-c', OVER_SOCKET, story.url, story.market.id], {
      PYTHONPATH: PACKAGE,
    });
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(started.stdout().trim().split('\n')).toEqual([
      '200 422 422 INSUFFICIENT_BALANCE True 1',
      'by HTTP',
      'by HTTP 1',
    ]);
  });

  ifPython('a refusal is not final while an earlier attempt may still be booked', async () => {
    if (!story) throw new Error('the story has not begun');
    const { id } = await story.openMarket();
    const started = startProgram(PYTHON, ['-c', LATE, story.url, id], { PYTHONPATH: PACKAGE });
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(started.stdout().trim().split('\n')).toEqual([
      'FILLED FOK_NOT_FILLED FILLED',
      'FOK_NOT_FILLED True',
    ]);
  });

  ifPython(
    'the market maker quotes through killed web processes and restarts of Redis, and knows what became of every order',
    async () => {
      if (!story) throw new Error('the story has not begun');
      const { quotesAfter, killWeb, restartRedis, taker, take, look, compared, audit } = story;
      await quotesAfter(0, 'the first quotes rest');
      const trader = taker();
      let isOver = false;
      const trading = (async () => {
        for (let round = 0; !isOver; round++) {
          await take(trader, round % 2 === 0 ? 0 : 1).catch(() => undefined);
          await look();
          await sleep(TAKE_EVERY_MS);
        }
      })();
      const backMs: Record<'web' | 'redis', number[]> = { web: [], redis: [] };
      const endMs = Date.now() + SECONDS * 1_000;
      for (let round = 1; round === 1 || Date.now() < endMs; round++) {
        if (SECONDS > 0) await sleep(KILL_EVERY_MS);
        backMs.web.push(await killWeb());
        if (round === 1 || round === 5) backMs.redis.push(await restartRedis());
      }
      await sleep(2 * TAKE_EVERY_MS);
      isOver = true;
      await trading;
      const { booked, sent, wrong, missing, last } = await audit();
      const books = compared();
      const worst = (list: readonly number[]): number => Math.round(Math.max(...list));
      const faults = JSON.stringify(last.faults);
      if (SECONDS > 0) {
        tell(`${sent} orders sent, ${booked} booked, ${wrong.length + missing.length} not accounted for`);
        tell(
          `${backMs.web.length} kills of a web process: quotes back after at most ${worst(backMs.web)} ms`,
        );
        tell(`${backMs.redis.length} restarts of Redis: quotes back after at most ${worst(backMs.redis)} ms`);
        tell(`${books.compared} books compared, ${books.differed} differed; faults noticed: ${faults}`);
      }
      expect({ wrong, missing, differed: books.differed }).toEqual({ wrong: [], missing: [], differed: 0 });
      expect(books.compared).toBeGreaterThan(0);
      expect(booked).toBeGreaterThanOrEqual(4);
      expect(last.connections).toBeGreaterThan(1);
      expect(last.faults).not.toHaveProperty('checksum');
    },
    STORY_MS_MAX + SECONDS * 2_000,
  );
});
