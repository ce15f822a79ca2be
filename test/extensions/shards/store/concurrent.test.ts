import { Refusal } from '../../../../src/exchange/errors';
import type { Channels } from '../../../../src/extensions/shards/store/channels';
import type { AtHome, PurseInShard } from '../../../../src/extensions/shards/store/purse-in-shard';
import type { RunningRedis } from '../../../../src/local/redis';
import { createRandom, type Random } from '../../../support/random';
import { startTestRedis } from '../../../support/redis';
import { sizeOf } from '../../../support/sample';
import { chooseSeed, tell } from '../../../support/telling';
import { isJust, type Told } from './justified';
import { GRANT, openShardWorld, type ShardWorld, type ShardWorldOptions, walletWithHome } from './world';

/**
 * Eight commands of a wallet at once, from two processes, in rounds over the same wallets: each INSUFFICIENT_BALANCE is justified by some
 * order of the wallet's own commands in an exchange of one shard. `SHARD_RACES=2000` plays as many rounds.
 */
const RACES = sizeOf('SHARD_RACES', 30, 500);
const COUNT = 4;
const WALLETS = 8;
const COMMANDS = 8;
const UNIT = 1_000_000;
const LIMIT_MS = 600_000;
const seed = chooseSeed('eight commands of a wallet at once');

let server: RunningRedis;
let worlds: readonly ShardWorld[] = [];
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(close);
afterAll(() => server.stop());

function close(): void {
  for (const world of worlds) world.stop();
  worlds = [];
}

async function open(around?: ShardWorldOptions['around']): Promise<void> {
  close();
  const options = { urls: [server.url], count: COUNT, ...(around && { around }) } as const;
  worlds = [await openShardWorld(options), await openShardWorld({ ...options, isOpen: true })];
}

interface Resting {
  readonly marketId: string;
  readonly orderHash: string;
  readonly units: number;
}

/** A wallet between two rounds: what it has free in all shards, and its orders. */
interface Purse {
  readonly address: string;
  freeUnits: number;
  resting: Resting[];
}

/** A command and its answer. */
type Played = Told & { readonly placed: Resting | null; readonly cancelled: Resting | null };

async function place(w: ShardWorld, purse: Purse, random: Random): Promise<Played> {
  // Some are too large for what is left when the others have run.
  const units = random.int(1, 45);
  const order = w.order(random.int(0, COUNT - 1), purse.address, 0, 0, 5_000, units * 200);
  const resting = { marketId: order.marketId, orderHash: order.orderHash, units };
  try {
    await w.exchange.place(order);
    return { end: 'DONE', takesUnits: units, placed: resting, cancelled: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const end = error.code === 'INSUFFICIENT_BALANCE' ? 'REFUSED' : 'GIVEN_UP';
    if (end === 'GIVEN_UP') expect(error.code).toBe('UNAVAILABLE');
    return { end, takesUnits: units, placed: null, cancelled: null };
  }
}

async function cancel(w: ShardWorld, purse: Purse, one: Resting): Promise<Played> {
  await w.exchange.cancel(one.marketId, purse.address, one.orderHash, 'USER');
  return { end: 'DONE', takesUnits: -one.units, placed: null, cancelled: one };
}

/** All begin before any ends. */
async function race(purse: Purse, random: Random): Promise<readonly Played[]> {
  const before = purse.resting.slice(0, random.int(0, 5));
  const commands = Array.from({ length: COMMANDS }, (_, i) => {
    const w = worlds[i % worlds.length] as ShardWorld;
    const ended = before[i];
    return ended ? cancel(w, purse, ended) : place(w, purse, random);
  });
  return Promise.all(commands);
}

/** Sees what the shards have, and not what is on its way between them. */
const blind = (channels: Channels): Channels => {
  const unmoved = (purse: PurseInShard): PurseInShard => ({ ...purse, sentMicro: 0, gotMicro: 0 });
  const blindly = (atHome: AtHome): AtHome => ({ ...atHome, purse: unmoved(atHome.purse) });
  return {
    ...channels,
    look: async (...args) => unmoved(await channels.look(...args)),
    async hold(...args) {
      const held = await channels.hold(...args);
      return held && blindly(held);
    },
    async send(options) {
      const sent = await channels.send(options);
      return sent.code === 'SHORT' ? { ...sent, atHome: blindly(sent.atHome) } : sent;
    },
  };
};

interface Races {
  readonly counts: Readonly<Record<Told['end'], number>>;
  /** The refusals that no order justifies. */
  readonly unjust: readonly string[];
  readonly purses: readonly Purse[];
}

/** Wallets do not disturb each other, but their transfers share the channels. */
async function play(races: number, random: Random): Promise<Races> {
  const counts = { DONE: 0, REFUSED: 0, GIVEN_UP: 0 };
  const unjust: string[] = [];
  const purses = Array.from(
    { length: WALLETS },
    (_, i): Purse => ({
      address: walletWithHome(i % COUNT, COUNT, Math.floor(i / COUNT)),
      freeUnits: GRANT / UNIT,
      resting: [],
    }),
  );
  const turn = async (purse: Purse): Promise<void> => {
    const played = await race(purse, random);
    for (const one of played) {
      counts[one.end]++;
      if (!isJust(purse.freeUnits, played, one))
        unjust.push(`${purse.freeUnits} free: ${JSON.stringify(one)} of ${JSON.stringify(played)}`);
    }
    for (const { end, takesUnits } of played) if (end === 'DONE') purse.freeUnits -= takesUnits;
    const cancelled = new Set(played.map((one) => one.cancelled));
    const kept = purse.resting.filter((one) => !cancelled.has(one));
    purse.resting = [...kept, ...played.flatMap(({ placed }) => placed ?? [])];
  };
  for (let done = 0; done < races; done += WALLETS) await Promise.all(purses.map(turn));
  return { counts, unjust, purses };
}

test(
  'every refusal of a command is justified by some order of those that were under way',
  async () => {
    await open();
    const { counts, unjust, purses } = await play(RACES, createRandom(seed));
    const told = `${counts.DONE} done, ${counts.REFUSED} refused, ${counts.GIVEN_UP} given up, ${unjust.length} unjustified`;
    tell(`${RACES} races of ${COMMANDS} commands: ${told}`);
    expect(unjust.slice(0, 3)).toEqual([]);
    expect(counts.REFUSED).toBeGreaterThan(RACES / 4);
    for (const { address, freeUnits } of purses)
      expect(await worlds[0]?.exchange.collateral(address)).toEqual({
        freeMicro: freeUnits * UNIT,
        reservedMicro: GRANT - freeUnits * UNIT,
      });
    expect(await worlds[0]?.differences()).toEqual([]);
  },
  LIMIT_MS,
);

test('when collateral on its way is not counted, an order is refused for which there is enough', async () => {
  const wallet = walletWithHome(0, COUNT);
  const ends = [];
  for (const around of [undefined, blind]) {
    await open(around);
    const [w] = worlds as readonly [ShardWorld];
    // The gatherer that sent it has ended.
    const needMicro = 80 * UNIT;
    await w.channels.send({
      from: 0,
      to: 1,
      wallet: Buffer.from(wallet.slice(2), 'hex'),
      needMicro,
      token: '',
      home: { grantMicro: GRANT },
    });
    const ended = w.exchange.place(w.order(2, wallet, 0, 0, 5_000, 90 * 200));
    ends.push(
      await ended.then(
        () => 'DONE',
        (error: Refusal) => error.code,
      ),
    );
  }
  expect(ends).toEqual(['DONE', 'INSUFFICIENT_BALANCE']);
});

describe('a search of orders', () => {
  const done = (takesUnits: number): Told => ({ end: 'DONE', takesUnits });
  const refused = (takesUnits: number): Told => ({ end: 'REFUSED', takesUnits });

  test.each([
    ['after the other command', 10, [done(8), refused(5)], true],
    ['when nothing took anything', 10, [refused(5)], false],
    ['before the cancel', 2, [done(-8), refused(5)], true],
    ['when both fit, refused by each other', 10, [refused(6), refused(6)], false],
    ['after commands that need the cancel', 2, [done(-8), done(9), refused(3)], true],
  ] as const)('of a refusal %s', (_, free, played, just) => {
    expect(played.every((one) => isJust(free, played, one))).toBe(just);
  });
});
