import { sampleOf, sizeOf } from '../support/sample';
import { freshSeed, tell } from '../support/telling';
import { type Lane, startLane } from './fuzzing/lane';
import type { Tally } from './fuzzing/side-by-side';

/**
 * Random operations on the engine and on the naive model of test/model, compared field by field after each.
 * `SEED=17 npx jest test/store/fuzz.test.ts` replays one world; a failure prints its seed and the shortest list of
 * operations that still fails. `FUZZ_WORLDS=400` plays that many worlds; `npm run test:long` plays 20.
 */
const WORLDS = sizeOf('FUZZ_WORLDS', 0, 20);
const isWhole = WORLDS > 0 || process.env.SAMPLE === 'all' || process.env.SEED !== undefined;
const OPERATIONS = isWhole ? 2_500 : 500;
/** With an archive each operation takes twice as long. */
const FORGETTING_OPERATIONS = WORLDS > 0 ? OPERATIONS : 400;
const REAL_TIME_OPERATIONS = WORLDS > 0 ? OPERATIONS : 300;
/** In this world much leaves Redis. In one of thirty no match does, so a new one need not. */
const FORGETTING_SEED = 17;
/** Six quick worlds that together meet everything below; number 3 is deep. A run plays some of them. */
const SHORT = [3, 12, 15, 16, 17, 18];
const SAMPLE = 1;
const LIMIT_MS = 900_000;
/** The fuzz proves little unless it met each of these; the six worlds meet the rare ones once. */
const MUST_MEET = [
  ...[
    'COMPLEMENTARY',
    'MINT',
    'MERGE',
    'self trade',
    'REPLAYED',
    'cancelled',
    'not cancelled',
    'one cancelled',
    'one not cancelled',
    'replaced',
    'replaced before',
    'ORDER_NOT_FOUND',
    'ORDER_NOT_CANCELLABLE',
    'cleared',
  ],
  ...['GTC OPEN', 'GTC PARTIALLY_FILLED', 'GTC FILLED', 'POST_ONLY OPEN', 'FOK FILLED', 'MARKET FILLED'],
  ...['IOC CANCELLED IOC_REMAINDER', 'MARKET CANCELLED MARKET_REMAINDER', 'GTC of several steps'],
  ...['GTC CANCELLED SELF_TRADE', 'IOC CANCELLED SELF_TRADE', 'MARKET CANCELLED SELF_TRADE'],
  ...['FOK_NOT_FILLED', 'SELF_TRADE', 'POST_ONLY_WOULD_CROSS', 'INSUFFICIENT_BALANCE', 'MARKET_NOT_OPEN'],
  ...['ORDER_EXPIRED', 'DEADLINE_EXCEEDED', 'INVALID_NONCE_VALUE', 'RATE_LIMITED', 'expired by the sweep'],
  ...['raised', 'raised before', 'invalidated', 'invalidated in part'],
  ...['swept', 'swept in part', 'a sweep began again'],
  ...['paid in part', 'paid RESOLVED', 'paid VOIDED', 'CANCEL_ONLY', 'HALTED'],
  ...['outbox EXPIRE', 'outbox TRADE', 'outbox BALANCE', 'outbox MARKET', 'more than 50 makers'],
];

const replayed = process.env.SEED;
/** Known worlds, and one that `npm run test:random` draws. */
const fresh = freshSeed();
const known =
  WORLDS > 0 ? Array.from({ length: WORLDS }, (_, i) => i) : sampleOf('known worlds', SHORT, SAMPLE);
const seeds = replayed ? [Number(replayed)] : [...known, fresh];
const MEETINGS_MIN = WORLDS >= 40 ? 3 : 1;

/** Worlds played side by side, each on a Redis of its own. */
const LANES = 2;
let lanes: Lane[];
beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, startLane));
});
afterAll(() => Promise.all(lanes.map((lane) => lane.stop())));

test(
  'the engine does what the model does',
  async () => {
    tell(
      `seeds ${seeds.join(' ')} of the fuzz, ${seeds.length * OPERATIONS} operations; SEED=${fresh} repeats the new one`,
    );
    const total: Tally = new Map();
    const waiting = [...seeds];
    const playAll = async (lane: Lane): Promise<void> => {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
        const outcome = await lane.play({ seed, operations: OPERATIONS, explain: true });
        if ('fault' in outcome) throw new Error(outcome.fault.message);
        for (const [what, count] of outcome.tally) total.set(what, (total.get(what) ?? 0) + count);
      }
    };
    await Promise.all(lanes.map(playAll));
    if (replayed || (WORLDS === 0 && known.length < SHORT.length)) return;
    const missing = MUST_MEET.filter((what) => (total.get(what) ?? 0) < MEETINGS_MIN);
    expect(missing).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'no answer changes when orders that are over leave Redis',
  async () => {
    const seed = replayed ? Number(replayed) : freshSeed();
    tell(`SEED=${seed} repeats: fuzz with an archive`);
    const worlds = replayed ? [seed] : [FORGETTING_SEED, seed];
    const play = (one: number, i: number) =>
      lanes[i]?.play({ seed: one, operations: FORGETTING_OPERATIONS, forgetting: true, explain: true });
    const outcomes = await Promise.all(worlds.map(play));
    for (const outcome of outcomes) if (outcome && 'fault' in outcome) throw new Error(outcome.fault.message);
    const [known] = outcomes;
    if (replayed || !known || 'fault' in known) return;
    for (const kind of ['orders', 'matches', 'lines'])
      expect(known.tally.get(`left: ${kind}`)).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

test(
  'the engine does what the model does by the clock of Redis, too',
  async () => {
    const seed = replayed ? Number(replayed) : freshSeed();
    tell(`SEED=${seed} repeats: fuzz by the clock of Redis`);
    const outcome = await lanes[0]?.play({ seed, operations: REAL_TIME_OPERATIONS, realTime: true });
    expect(outcome).toHaveProperty('tally');
  },
  LIMIT_MS,
);
