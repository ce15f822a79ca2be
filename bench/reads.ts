import { get, type IncomingHttpHeaders } from 'node:http';
import { createSigner } from './signer';
import { type Size, sizes } from './size';
import { call, cpuMicros, FASTEST, message, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * The public reads of one web process, keep-alive connections, with a market that has a book and trades and 500 others
 * beside it. Each is compared with a bare `node:http` server that returns the same bytes with the same headers, in turns
 * with it, by the CPU time of the serving process.
 */
export interface ReadsRow {
  readonly suite: 'reads';
  readonly what: string;
  readonly bytes: number;
  readonly cpuMicros: number;
  readonly bareCpuMicros: number;
  /** The bare server's CPU time divided by the exchange's: 1 would be the cheapest possible. */
  readonly ratio: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 32;
const ROUNDS = sizes(1, 5);
const REQUESTS = sizes(32, 2_000);
const MARKETS = sizes(10, 500);
const BOOK_ORDERS = 200;
const TRADES = 60;
const CROSSING_CENTS = 99;

interface Target {
  readonly what: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** `redisUrl` is a separate Redis; `deadlineMs` bounds the run. */
export async function benchReads(
  redisUrl: string,
  size: Size,
  deadlineMs: number,
  emit: (row: ReadsRow) => void,
): Promise<void> {
  // The first process becomes the broadcaster; the measured work is that of every replica.
  const broadcaster = await startWeb(FASTEST, redisUrl);
  const web = await startWeb(FASTEST, redisUrl, CONNECTIONS);
  const bare = await startSide('bare.ts', [], process.env, CONNECTIONS);
  try {
    for (const target of await targetsOf(web, MARKETS[size])) {
      emit(Date.now() > deadlineMs ? untaken(target) : await compare(web, bare, target, size));
    }
  } finally {
    stopSides([broadcaster, web, bare]);
  }
}

/** A row that ran out of time meets no target. */
const untaken = ({ what }: Target): ReadsRow => ({
  suite: 'reads',
  what,
  bytes: 0,
  cpuMicros: Number.NaN,
  bareCpuMicros: Number.NaN,
  ratio: Number.NaN,
  p50Ms: Number.NaN,
  p99Ms: Number.NaN,
});

const COMMENTS = 50;

async function targetsOf(web: Side, markets: number): Promise<Target[]> {
  const { market, sign, signIn, addresses } = await createSigner(web);
  let resting = '';
  for (let i = 0; i < BOOK_ORDERS; i++) {
    const { path: target, body, orderHash } = sign();
    await call(web, 'POST', target, body);
    resting = orderHash;
  }
  let filled = '';
  for (let i = 0; i < TRADES; i++) {
    const { path: target, body, orderHash } = sign({ outcome: 0, cents: CROSSING_CENTS });
    await call(web, 'POST', target, body);
    filled = orderHash;
  }
  for (let i = 1; i < markets; i++) {
    const question = `Will reading ${i} markets stay cheap?`;
    await call(
      web,
      'POST',
      '/admin/markets',
      JSON.stringify({ question, category: `c${i % 7}`, tags: ['bench'] }),
    );
  }
  const base = `/markets/${market.id}`;
  const [token] = await signIn();
  for (let i = 0; i < COMMENTS; i++) {
    await call(web, 'POST', `${base}/comments`, JSON.stringify({ body: `Comment ${i} of fifty.` }), token);
  }
  const unchanged = async (path: string): Promise<Target> => {
    const { headers } = await fetchOnce(web, { what: '', path, headers: {} });
    return {
      what: `${path.replace(base, '').slice(1)}, 304`,
      path,
      headers: { 'if-none-match': String(headers.etag) },
    };
  };
  const plain: readonly (readonly [what: string, path: string])[] = [
    ['market', base],
    ['orderbook', `${base}/orderbook`],
    ['orderbook?depth=10', `${base}/orderbook?depth=10`],
    ['ticker', `${base}/ticker`],
    ['trading', `${base}/trading`],
    ['trades', `${base}/trades`],
    ['trades?limit=500', `${base}/trades?limit=500`],
    ['price-history', `${base}/price-history`],
    ['price-history?timeframe=1h', `${base}/price-history?timeframe=1h`],
    ['comments', `${base}/comments`],
    ['order that rests', `/orders/${resting}`],
    ['order with fills', `/orders/${filled}`],
    ['fills of an order', `/orders/${filled}/fills`],
    ['profile', `/profiles/${addresses[0]}`],
    [`markets (of ${markets})`, '/markets'],
    ['markets?limit=100&sort=liquidity', '/markets?limit=100&sort=liquidity'],
    ['categories', '/categories'],
    ['config', '/config'],
    ['time', '/time'],
    ['openapi.json', '/openapi.json'],
  ];
  return [
    ...plain.map(([what, path]) => ({ what, path, headers: {} })),
    await unchanged(`${base}/orderbook`),
    await unchanged(`${base}/orderbook?depth=10`),
  ];
}

async function compare(web: Side, bare: Side, target: Target, size: Size): Promise<ReadsRow> {
  const { status, headers, body } = await fetchOnce(web, target);
  const told = message(bare.child);
  bare.child.send({ status, headers, body });
  await told;
  const rounds: { ours: number; theirs: number }[] = [];
  const latenciesMs: number[] = [];
  for (let round = 0; round <= ROUNDS[size]; round++) {
    const ours = await load(web, target, REQUESTS[size], latenciesMs);
    const theirs = await load(bare, target, REQUESTS[size], []);
    // The first round warms both up.
    if (round > 0) rounds.push({ ours, theirs });
    else latenciesMs.length = 0;
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  const ours = median(rounds.map((round) => round.ours));
  const theirs = median(rounds.map((round) => round.theirs));
  latenciesMs.sort((a, b) => a - b);
  const at = (part: number): number =>
    Math.round(100 * (latenciesMs[Math.floor(latenciesMs.length * part)] ?? Number.NaN)) / 100;
  return {
    suite: 'reads',
    what: target.what,
    bytes: body.length,
    cpuMicros: Math.round(ours),
    bareCpuMicros: Math.round(theirs),
    ratio: Math.round((100 * theirs) / ours) / 100,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** CPU microseconds per request of the serving process. */
async function load(side: Side, target: Target, requests: number, latenciesMs: number[]): Promise<number> {
  const before = await cpuMicros(side);
  let left = requests;
  const connection = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      await fetchOnce(side, target);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return ((await cpuMicros(side)) - before) / requests;
}

function fetchOnce(
  { port, agent }: Pick<Side, 'port' | 'agent'>,
  { path: target, headers }: Target,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = get({ port, agent, path: target, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
  });
}
