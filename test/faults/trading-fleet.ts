import { type Client, patiently } from '../support/client';
import { ADMIN_TOKEN } from '../support/settings';
import { openMarket } from '../support/trader';
import { eventually, sleep } from '../support/waiting';
import { type Evidence, gather, pages, type SettledFacts, type StartedMarket } from './evidence';
import { type Fleet, type FleetOptions, startFleet } from './fleet';
import { INVARIANTS } from './invariants';
import { createJournal, type Journal } from './load';
import { createPeople, type Person } from './people';
import { GRANT, type Seats } from './seats';

/** A fleet with markets and wallets with money and tokens: the start of every fault story. */
export interface TradingFleet<F extends Seats = Fleet> {
  readonly fleet: F;
  readonly markets: readonly StartedMarket[];
  readonly people: readonly Person[];
  readonly journal: Journal;
  /** A running web process. */
  client(): Client;
  /** Waits until the exchange is healthy and every match is settled, then reads everything. */
  evidence(patienceMs?: number): Promise<Evidence>;
  stop(): Promise<void>;
}

interface SceneOptions {
  readonly seed: string;
  readonly markets?: number;
  readonly people?: number;
}
export type TradingFleetOptions = FleetOptions & SceneOptions;

const SETS = '20000';
const POLL_MS = 100;
/** The number of records among which that of the latest trade is, because records of retried jobs come after it. */
const LATEST_SETTLED = 200;
/** The reconciler, which runs twice a minute, finds what the faults have left. */
const PATIENCE_MS = 150_000;

export const startTradingFleet = async (options: TradingFleetOptions): Promise<TradingFleet> =>
  openTrading(await startFleet(options), options);

/** The same on existing processes; a failed set-up ends everything started. */
export async function openTrading<F extends Seats>(
  fleet: F,
  options: SceneOptions,
): Promise<TradingFleet<F>> {
  const [{ client: first }] = fleet.webs;
  const journal = createJournal();
  // A busy machine may answer 503 for a while: everything has just been started.
  const { body: config } = await eventually(
    () => first.get('/config'),
    ({ status, text }) => expect({ status, text }).toMatchObject({ status: 200 }),
  );
  const domain = config.eip712.domain;
  const opened = [];
  for (let i = 0; i < (options.markets ?? 2); i++) opened.push(await openMarket(first, ADMIN_TOKEN));
  const people = await createPeople(options.people ?? 6, options.seed, domain);
  for (const person of people) {
    await person.signIn(first);
    for (const { id } of opened) {
      const sent = { token: person.token, body: { size: SETS } };
      const { status, text } = await patiently(() => first.post(`/markets/${id}/split`, sent));
      if (status !== 200) throw new Error(text);
    }
  }
  const markets: StartedMarket[] = [];
  for (const market of opened) {
    const { body } = await first.get(`/markets/${market.id}/orderbook`);
    markets.push({ ...market, sequenceAtStart: body.sequence });
  }
  let turn = 0;
  const client = (): Client => {
    const up = fleet.webs.filter((web) => web.isUp());
    return (up[turn++ % Math.max(1, up.length)] ?? fleet.webs[0]).client;
  };

  async function isSettled(): Promise<boolean> {
    for (const { id } of markets) {
      const [trades, settled] = await Promise.all([
        first.get(`/markets/${id}/trades?limit=1`),
        first.get(`/admin/settlements?marketId=${id}&limit=${LATEST_SETTLED}`, { token: ADMIN_TOKEN }),
      ]);
      const [last] = trades.body.data;
      const isThere = settled.body.data.some(({ tradeIds }: Pick<SettledFacts, 'tradeIds'>) =>
        tradeIds.includes(last.id),
      );
      if (last && !isThere) return false;
    }
    return true;
  }

  /** The orders that had to expire by now are no longer open. */
  async function areExpired(): Promise<boolean> {
    for (const person of people) {
      await person.signIn(first);
      const open = await pages(first, '/me/orders?status=open&limit=100', person.token);
      if (open.some(({ expiration }) => expiration !== '0')) return false;
    }
    return true;
  }
  return {
    fleet,
    markets,
    people,
    journal,
    client,
    async evidence(patienceMs = PATIENCE_MS) {
      const expiries = journal.submissions.map(({ signed }) => signed.expiration * 1_000);
      // An order that ends while it is being read would be a false contradiction.
      await sleep(Math.max(0, Math.max(0, ...expiries) - Date.now()));
      const giveUpAt = Date.now() + patienceMs;
      while (!(await areExpired().catch(() => false)) && Date.now() < giveUpAt) await sleep(POLL_MS);
      // The checker reports settlements that are missing then. A job that is tried again is overtaken by later ones.
      while (!(await isSettled().catch(() => false)) && Date.now() < giveUpAt) await sleep(POLL_MS);
      for (;;) {
        await sleep(POLL_MS);
        const evidence = await gather(first, journal, markets, people, GRANT);
        if (INVARIANTS['every fill is settled once'](evidence).length === 0 || Date.now() > giveUpAt)
          return evidence;
      }
    },
    stop: () => {
      journal.isOver = true;
      return fleet.stop();
    },
  };
}
