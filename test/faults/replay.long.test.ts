import { Redis } from 'ioredis';
import type { RunningRedis } from '../../src/local/redis';
import { decodeEvent } from '../../src/store/outbox/outbox';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createModel } from '../model/exchange';
import { checkState } from '../store/fuzzing/compare';
import { checkOrders } from '../store/fuzzing/harness';
import { remember } from '../store/fuzzing/perform';
import { patchedScripts } from '../store/fuzzing/scripts';
import { type Memory, readState } from '../store/fuzzing/stored';
import type { Answer } from '../support/client';
import { createRandom } from '../support/random';
import { startTestRedis } from '../support/redis';
import { ADMIN_TOKEN } from '../support/settings';
import { chooseSeed, tell } from '../support/telling';
import { domainOf, type Market, openMarket } from '../support/trader';
import { createPeople, type Person } from './people';
import { type Emptied, type History, replay, type Sent } from './replaying';
import { GRANT, type Seats, startSeats } from './seats';

/**
 * Many wallets trade over HTTP at two web processes on one Redis: single submissions and batches, replacements, cancels and
 * cancel-alls, some of them sent twice. Then the model plays all of them in the order of the numbers, and must produce the
 * answers and the stored state. REPLAY_COMMANDS chooses the size. No worker runs, so the outbox keeps every entry.
 */
const COMMANDS = Number(process.env.REPLAY_COMMANDS ?? 5_000);
const LIMIT_MS = 120_000 + COMMANDS * 100;
const SETTLING_MS = 300_000;
const WALLETS = 12;
const LANES = 24;
const SETS = '50000';
const GRANT_MICRO = Number(GRANT) * 1e6;
const MAKERS_MAX = 500;
const READ_STEP = 500;
/** The number of its latest orders among which a wallet replaces or cancels. */
const REACH = 60;
const BATCH_MAX = 5;
/** There are more cancel-alls than this, however rarely the seed draws them. */
const ALL_MIN = 10;
const RESTING = ['OPEN', 'PARTIALLY_FILLED'];
const TYPES = ['GTC', 'GTC', 'GTC', 'GTC', 'GTC', 'IOC', 'FOK', 'POST_ONLY'] as const;
const PREVENTIONS = ['NONE', 'NONE', 'CANCEL_TAKER', 'CANCEL_MAKER', 'CANCEL_BOTH'] as const;

const seed = chooseSeed('replay of two web processes');
const random = createRandom(seed);
const keys = createKeys();
let server: RunningRedis;
let redis: Redis;
let seats: Seats;
let people: Person[];
let markets: readonly Market[];
const latest: Sent[] = [];
const sent = new Map<string, Sent>();
const emptied: Emptied[] = [];
const wrong: string[] = [];
let unavailable = 0;
const cancels = { answered: 0, all: 0 };
let history: History;

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  seats = await startSeats(
    { webs: 2, workers: 0, env: { MATCH_MAKERS_MAX: String(MAKERS_MAX) } },
    () => server.url,
  );
  const [{ client }] = seats.webs;
  markets = [await openMarket(client, ADMIN_TOKEN), await openMarket(client, ADMIN_TOKEN)];
  people = await createPeople(WALLETS, `replay ${seed}`, await domainOf(client));
  for (const person of people) {
    await person.signIn(client);
    for (const { id } of markets)
      await client.post(`/markets/${id}/split`, { token: person.token, body: { size: SETS } });
  }
}, SETTLING_MS);
afterAll(async () => {
  redis?.disconnect();
  await seats?.stop();
  await server?.stop();
});

/** The answer of either process; an unexpected answer is noted. */
async function ask(path: string, body: unknown, token?: string): Promise<Answer> {
  const web = random.pick(seats.webs);
  const answer = await web.client.post(path, { body, ...(token === undefined ? {} : { token }) });
  // A busy machine may answer 503; the outbox shows whether the command ran.
  if (answer.status === 503) unavailable++;
  else if (answer.status >= 500 || answer.status === 429)
    wrong.push(`${path}: ${answer.status} ${answer.text}`);
  return answer;
}

/** Its latest orders that rested when they were answered. */
const mine = (person: Person): Sent[] =>
  latest
    .slice(-REACH)
    .filter((one) => one.maker === person.address.toLowerCase() && RESTING.includes(one.answer?.status));

function sign(person: Person, market: Market, oldHash: string | null): Sent {
  const signed = person.sign(market, {
    side: random.next() < 0.55 ? 'BUY' : 'SELL',
    outcome: random.below(2) as 0 | 1,
    pips: (44 + random.below(13)) * 100,
    lots: 100 * (1 + random.below(30)),
    expiration: random.next() < 0.05 ? Math.floor(Date.now() / 1_000) + 2 + random.below(3) : 0,
  });
  const one: Sent = {
    signed,
    marketId: market.id,
    maker: person.address.toLowerCase(),
    oldHash,
    answer: null,
    orderType: random.pick(TYPES),
    selfTradePrevention: random.pick(PREVENTIONS),
  };
  sent.set(signed.orderHash, one);
  latest.push(one);
  return one;
}

const bodyOf = ({ signed, orderType, selfTradePrevention }: Sent) => ({
  order: signed.wire,
  orderType,
  selfTradePrevention,
});

async function submit(person: Person): Promise<void> {
  const one = sign(person, random.pick(markets), null);
  await send(one, `/markets/${one.marketId}/orders`, person);
}

/** Some are sent a second time while the first is in progress. */
async function send(one: Sent, path: string, { token }: Person): Promise<void> {
  const body = bodyOf(one);
  const twice = random.next() < 0.1 ? [ask(path, body, token)] : [];
  const answers = await Promise.all([ask(path, body, token), ...twice]);
  const booked = answers.find(
    (answer) => answer.status === 200 && !answer.headers.has('idempotent-replayed'),
  );
  one.answer = booked?.body ?? null;
}

async function submitBatch(person: Person): Promise<void> {
  const market = random.pick(markets);
  const batch = Array.from({ length: 2 + random.below(BATCH_MAX) }, () => sign(person, market, null));
  const { status, body } = await ask(`/markets/${market.id}/orders/batch`, { orders: batch.map(bodyOf) });
  if (status !== 200) return;
  for (const [i, one] of batch.entries()) one.answer = body.results[i]?.order ?? null;
}

async function replace(person: Person): Promise<void> {
  const open = mine(person);
  if (open.length === 0) return submit(person);
  const { marketId, signed } = random.pick(open);
  const market = markets.find(({ id }) => id === marketId) as Market;
  await send(
    sign(person, market, signed.orderHash),
    `/markets/${marketId}/orders/${signed.orderHash}/replace`,
    person,
  );
}

async function cancel(person: Person): Promise<void> {
  const open = mine(person);
  if (open.length === 0) return submit(person);
  const { marketId, signed } = random.pick(open);
  const { orderHash } = signed;
  const answer = await ask(`/markets/${marketId}/orders/cancel`, { orderHash }, person.token);
  if (answer.status === 200 && answer.body.cancelled) cancels.answered++;
}

async function cancelAll(person: Person): Promise<void> {
  const maker = person.address.toLowerCase();
  const { id } = random.pick(markets);
  const isEverywhere = random.next() < 0.5;
  const path = isEverywhere ? '/me/orders/cancel-all' : `/markets/${id}/orders/cancel-all`;
  const { status, body } = await ask(path, {}, person.token);
  if (status !== 200) return;
  cancels.all++;
  emptied.push({ maker, numbers: isEverywhere ? body.sequences : { [id]: body.sequence } });
}

/** Each history begins where the one before it ends. */
const SHARES: readonly (readonly [number, (person: Person) => Promise<void>])[] = [
  [0.3, submit],
  [0.65, submitBatch],
  [0.83, replace],
  [0.97, cancel],
  [1, cancelAll],
];

async function lane(): Promise<void> {
  while (sent.size + cancels.answered + cancels.all < COMMANDS || cancels.all <= ALL_MIN) {
    const person = random.pick(people);
    const chance = random.next();
    const [, act] = SHARES.find(([below]) => chance < below) ?? [1, submit];
    await act(person);
  }
}

async function gather(): Promise<History> {
  const entries = await redis.xrangeBuffer(keys.outbox, '-', '+');
  const events = entries.map(([, fields]) => decodeEvent(fields[1] as Buffer));
  const records: History['records'] extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never = new Map();
  const run = createScripts(redis, patchedScripts([]));
  const all = [...sent.keys()];
  for (let at = 0; at < all.length; at += READ_STEP) {
    const hashes = all.slice(at, at + READ_STEP);
    const stored = await readState(run, keys, { markets: [], wallets: [], hashes, news: 0 });
    for (const record of stored.records) if (record) records.set(record.orderHash, record);
  }
  return { events, sent, records, emptied };
}

/** Plays the history on a new model. */
function play(what: History) {
  const model = createModel({ grantMicro: GRANT_MICRO, makersMax: MAKERS_MAX });
  const addresses = people.map(({ address }) => address.toLowerCase());
  const ledger = {
    addresses,
    booked: new Map(),
    matches: new Map(),
    verified: new WeakSet(),
    emitted: 0,
    granted: 0n,
  };
  const tally = new Map<string, number>();
  const stage = {
    model,
    ledger,
    chains: new Map(),
    run: createScripts(redis, patchedScripts([])),
    keys,
    count: (name: string) => void tally.set(name, (tally.get(name) ?? 0) + 1),
  };
  replay(model, what, (order, fills) => remember(stage, order, fills));
  ledger.emitted = model.emitted.splice(0).length;
  return { stage, tally };
}

test(
  `${COMMANDS} commands over two web processes, replayed in the order of their numbers, produce the same answers and state`,
  async () => {
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(wrong.slice(0, 5)).toEqual([]);
    history = await gather();
    const { stage, tally } = play(history);
    const { ledger, run, model } = stage;
    const wanted = { markets: markets.map(({ id }) => id), wallets: ledger.addresses, hashes: [], news: 0 };
    const memory: Memory = new Map();
    const stored = await readState(run, keys, wanted, memory);
    const worldMarkets = markets.map(({ id }) => ({
      id,
      tickPips: 100,
      lotLots: 1,
      feeRateBps: 0,
      centre: 50,
    }));
    const rest = { seed, wallets: WALLETS, makersMax: MAKERS_MAX, staleMax: 200, scale: 1, deep: false };
    checkState({ ...rest, markets: worldMarkets, grantMicro: GRANT_MICRO }, model, stored, ledger, 0);
    await checkOrders(stage);
    const commands = history.events.filter(({ kind }) => kind !== 'BALANCE' && kind !== 'MARKET').length;
    const refused = [...sent.values()].filter(({ answer }) => answer === null).length;
    tell(
      `  ${sent.size} submissions, ${refused} refused, ${[...sent.values()].filter(({ oldHash }) => oldHash).length} replaces, ` +
        `${cancels.answered} cancels, ${cancels.all} cancel-alls, ${commands} numbers, ${unavailable} answers of 503, 0 differences; ` +
        `${[...tally].map(([name, n]) => `${name} ${n}`).join(', ')}`,
    );
    expect(tally.get('COMPLEMENTARY')).toBeGreaterThan(10);
    expect(cancels.all).toBeGreaterThan(ALL_MIN);
  },
  LIMIT_MS,
);

/** The first order that a command of this kind booked and that was answered with this status. */
function answered(kind: string, status: string): Sent {
  const takers = history.events
    .filter((event) => event.kind === kind)
    .map(({ orderHashes: [hash = ''] }) => sent.get(hash));
  const one = takers.find((taker) => taker?.answer?.status === status);
  if (!one) throw new Error(`the history has no ${kind} answered with ${status}`);
  return one;
}

/** Histories with one error each. The replay notices it whatever the seed. */
const PLANTED: Readonly<Record<string, () => History>> = {
  'a command is missing': () => {
    const at = Math.floor(history.events.length / 2);
    return { ...history, events: history.events.filter((_, i) => i !== at) };
  },
  'two commands of a market have changed places': () => {
    const events = [...history.events];
    const from = Math.floor(events.length / 2);
    const to = events.findIndex((event, i) => i > from && event.marketId === events[from]?.marketId);
    [events[from], events[to]] = [events[to] as (typeof events)[0], events[from] as (typeof events)[0]];
    return { ...history, events };
  },
  'an order was signed for one lot more': () => {
    // Its answer says that all of it was filled, which is false of one lot more in any history.
    const one = answered('TRADE', 'FILLED');
    const signed = { ...one.signed, lots: one.signed.lots + 1 };
    return { ...history, sent: new Map([...sent, [signed.orderHash, { ...one, signed }]]) };
  },
  'a cancel-all answered a number at which an order was open': () => {
    const { maker, marketId, answer } = answered('ORDER', 'OPEN');
    const numbers = { [marketId]: answer?.sequence };
    return { ...history, emptied: [...emptied, { maker, numbers }] };
  },
};

test.each(Object.keys(PLANTED))('the replay notices a fault: %s', (name) => {
  expect(() => play((PLANTED[name] as () => History)())).toThrow();
});
