import { createShell } from '../cli/shell';
import { createRandom } from '../support/random';
import { startTestCluster, type TestCluster } from '../support/redis';
import { startShuttle } from '../support/slots';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { ANSWER_MS } from './asking';
import { expectRest, type Follower, follow } from './followers';
import { violationsOf } from './invariants';
import { isBusy, slowestMs, startLoad } from './load';
import { type Seat, type Seats, startSeats } from './seats';
import { openTrading, type TradingFleet } from './trading-fleet';

/**
 * The storm on a real cluster: trading continues while the slot of the book moves between two of three masters, and a web
 * process or the worker is killed meanwhile. FAULT_SEED and FAULT_SECONDS choose another storm.
 */
const SEED = Number(process.env.FAULT_SEED ?? 7);
const SECONDS = Number(process.env.FAULT_SECONDS ?? 20);
const PREFIX = '{x0}:';
const REST_MS = 250;
const MOVES_MIN = 4;
const ACCEPTED_MIN = 50;
const TRADES_MIN = 10;
/** The storm lasts until there was enough of everything, but not for longer than this. */
const STORM_MS_MAX = 200_000 + SECONDS * 1_000;
const LANES = 6;
const PAUSE_MS = 5;
const SUBMISSIONS_MAX = 30_000;
/** A process that finds no store at its start reports that and ends; a platform starts it again. */
const STARTS_MAX = 10;

let cluster: TestCluster;
let stage: TradingFleet<Seats>;
let followers: Follower[] = [];
beforeAll(async () => {
  cluster = await startTestCluster(3, { appendonly: 'always' });
  stage = await openTrading(await startSeats({}, () => cluster.url), { seed: `moving slot ${SEED}` });
});
afterAll(async () => {
  for (const one of followers) one.stop();
  await stage?.stop();
  await cluster?.stop();
});

async function killAndStart(seat: Seat, awayMs: number): Promise<void> {
  await seat.kill();
  await sleep(awayMs);
  for (let i = 0; i < STARTS_MAX; i++) {
    await seat.start();
    if (seat.isUp()) return;
  }
  throw new Error('the process does not start');
}

test(`trading for ${SECONDS} s continues while the slot of the book moves and processes are killed, seed ${SEED}`, async () => {
  const { journal, markets, people, client, fleet } = stage;
  const random = createRandom(SEED);
  const [market] = markets as [(typeof markets)[0]];
  followers = fleet.webs.map((web) => follow(web.client.url, market.conditionId));
  const shuttle = await startShuttle(cluster, PREFIX, REST_MS);
  const load = startLoad(journal, {
    markets,
    people,
    client,
    pauseMs: PAUSE_MS,
    random: createRandom(SEED + 1),
    lanes: LANES,
    most: SUBMISSIONS_MAX,
  });
  const startedAt = Date.now();
  let kills = 0;
  const isEnough = (): boolean =>
    shuttle.moves() >= MOVES_MIN && isBusy(journal, { accepted: ACCEPTED_MIN, traded: TRADES_MIN });
  for (let ms = 0; ms < SECONDS * 1_000 || (!isEnough() && ms < STORM_MS_MAX); ms = Date.now() - startedAt) {
    await sleep(500);
    const seats: readonly Seat[] = kills % 2 === 0 ? fleet.webs : fleet.workers;
    await killAndStart(random.pick(seats), 200 + random.below(1_000));
    kills++;
  }
  await shuttle.stop();
  for (const web of fleet.webs)
    await until('the exchange is well', async () => (await web.client.get('/readyz')).status === 200);
  await load.stop();
  const evidence = await stage.evidence();
  const accepted = journal.submissions.filter((one) => one.accepted.length > 0).length;
  const trades = evidence.markets.reduce((sum, one) => sum + one.trades.length, 0);
  tell(
    `moving slot, seed ${SEED}: ${shuttle.moves()} moves and ${kills} kills in ${SECONDS} s, ${journal.submissions.length} orders, ` +
      `${accepted} accepted, ${trades} trades, ${journal.answers} answers, ${journal.unavailable} of 503, ${journal.lost} lost, ` +
      `the slowest ${Math.round(slowestMs(journal))} ms`,
  );
  expect(violationsOf(evidence).slice(0, 20)).toEqual([]);
  expect(journal.wrong).toEqual([]);
  for (const one of followers) await expectRest(client(), market.id, one);
  expect(followers.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(await createShell(cluster.url).exchange('audit')).toMatchObject({ code: 0 });
  expect(slowestMs(journal)).toBeLessThan(ANSWER_MS);
  expect(shuttle.moves()).toBeGreaterThanOrEqual(MOVES_MIN);
  expect(accepted).toBeGreaterThan(ACCEPTED_MIN);
  expect(trades).toBeGreaterThan(TRADES_MIN);
  expect(fleet.logs()).not.toContain('INTERNAL');
}, 600_000);
