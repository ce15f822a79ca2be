import { micro } from '../../../../src/exchange/units';
import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import type { RunningRedis } from '../../../../src/local/redis';
import { addressBytes } from '../../../../src/store/records/order';
import { createKeys } from '../../../../src/store/redis/keys';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { type Patch, patchedScripts } from '../../../store/fuzzing/scripts';
import { startTestRedis } from '../../../support/redis';
import { TRANSFERS } from './planted';
import { GRANT, openShardWorld, type ShardWorld, type ShardWorldOptions, walletWithHome } from './world';

/** Bugs of the transfers, planted in a copy of lua/: the same story is whole without them and not with them. */
let server: RunningRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

const alice = walletWithHome(0, 4);

async function told(
  patches: readonly Patch[],
  story: (w: ShardWorld) => Promise<unknown>,
  more: Partial<ShardWorldOptions> = {},
): Promise<unknown> {
  const w = await openShardWorld({ urls: [server.url], count: 4, sources: patchedScripts(patches), ...more });
  try {
    return await story(w);
  } finally {
    w.stop();
  }
}

/** Two takers read the same entry before either takes it. */
async function takenTwice(w: ShardWorld): Promise<string[]> {
  const [home, other] = w.shards;
  if (!home || !other) throw new Error('no shards');
  const terms = { from: 0, to: 1, wallet: addressBytes(alice), needMicro: 1, token: '' };
  await w.channels.send({ ...terms, home: { grantMicro: GRANT } });
  const [entry] = await w.redis.xrangeBuffer(home.channel(1), '-', '+');
  for (let i = 0; i < 2; i++) {
    await w.run(
      'take_collateral',
      [other.taken, other.cash, other.sums, other.outbox],
      [other.prefix, 0, entry?.[0] ?? '', entry?.[1][1] ?? ''],
    );
  }
  return w.differences();
}

/** A wallet with 50 in each of two shards sends an order of 60 to both at once. Returns the codes of the answers. */
async function sixtyTwice(w: ShardWorld): Promise<string[]> {
  const codes: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const wallet = walletWithHome(0, 4, turn);
    const holds = [w.order(1, wallet, 0, 0, 5_000, 50 * 200), w.order(2, wallet, 0, 0, 5_000, 50 * 200)];
    for (const hold of holds) await w.exchange.place(hold);
    for (const hold of holds) await w.exchange.cancel(hold.marketId, wallet, hold.orderHash, 'USER');
    const ends = await Promise.allSettled([w.reserve(1, wallet, 60), w.reserve(2, wallet, 60)]);
    codes.push(
      ends
        .map((end) => (end.status === 'rejected' ? end.reason.code : 'BOOKED'))
        .sort()
        .join(' '),
    );
  }
  return [...new Set(codes)];
}

/** The raise of a nonce ends after the home; then collateral opens another shard. Returns the code of the answer to an old order there. */
async function oldOrder(w: ShardWorld): Promise<string> {
  await w.reserve(1, alice, 40);
  const hold = w.order(1, alice, 0, 0, 5_000, 20 * 200);
  await w.exchange.place(hold);
  await w.reserve(0, alice, 40);
  await w.exchange.cancel(hold.marketId, alice, hold.orderHash, 'USER');
  const home = w.shards[0];
  if (!home) throw new Error('no shards');
  await w.run(
    'raise_nonce',
    [home.cash, home.sums, home.outbox, home.raisedNonces, home.operation('one'), home.mode],
    [home.prefix, addressBytes(alice), String(GRANT), 1_000],
  );
  await w.exchange.convert(w.ids[3] ?? '', alice, micro(10_000_000), 'split');
  // A sale of what was split: nothing about it is refused but the nonce.
  return w.exchange.place(w.order(3, alice, 1, 0, 5_000, 200)).then(
    () => 'BOOKED',
    (error) => error.code,
  );
}

/** A wallet comes to another shard. Returns how many of its orders a cancel of all finds. */
async function cancelled(w: ShardWorld): Promise<number> {
  await w.reserve(1, alice, 10);
  return (await w.exchange.cancelAll(alice, {})).cancelled.length;
}

/**
 * Wallets come to another shard in each possible way: with collateral of their home, with that of a third shard, and with their nonce.
 * Returns the accounts that the home did not name after some script.
 */
async function unnamed(patches: readonly Patch[]): Promise<string[]> {
  const found = new Set<string>();
  const shards = [0, 1, 2, 3].map(createKeys);
  const afterScript = async (redis: RedisClient): Promise<void> => {
    const { differences } = await checkChannels({ redis, shards });
    for (const { kind, detail } of differences) if (kind === 'PURSE') found.add(detail ?? kind);
  };
  const story = async (w: ShardWorld): Promise<void> => {
    await w.reserve(1, alice, 40);
    const hold = w.order(1, alice, 0, 0, 5_000, 20 * 200);
    await w.exchange.place(hold);
    await w.reserve(0, alice, 40);
    await w.exchange.cancel(null, alice, hold.orderHash, 'USER');
    await w.reserve(3, alice, 15);
    const carol = walletWithHome(2, 4);
    await w.exchange.raiseNonce(carol, 'one');
    await w.exchange.place(w.order(0, carol, 0, 0, 5_000, 200, { nonce: 1 }));
  };
  // With a bug a gatherer may look for collateral where there is none, and give up.
  await told(patches, story, { afterScript }).catch((error: unknown) => found.add(String(error)));
  return [...found];
}

test('without a planted bug every story is whole', async () => {
  expect(await told([], cancelled)).toBe(1);
  expect(await unnamed([])).toEqual([]);
  expect(await told([], takenTwice)).toEqual([]);
  expect(await told([], sixtyTwice)).toEqual(['BOOKED INSUFFICIENT_BALANCE']);
  expect(await told([], oldOrder)).toBe('INVALID_NONCE_VALUE');
});

test('an entry taken twice, because the mark is not compared, is found by the audits', async () => {
  const found = (await told(TRANSFERS.markNotCompared, takenTwice)) as string[];
  expect(found.join()).toContain('IN_TRANSIT 0 to 1');
});

test('when the hold is ignored, two orders of a wallet take the collateral from each other', async () => {
  const found = (await told(TRANSFERS.holdIgnored, sixtyTwice)) as string[];
  expect(found.join()).toContain('UNAVAILABLE');
});

test('when a shard is opened with the nonce of the sender, an order under an older nonce is booked', async () => {
  expect(await told(TRANSFERS.nonceOfTheSender, oldOrder)).toBe('BOOKED');
});

test('a shard that the home does not note before it sends is missed by a cancel of all', async () => {
  expect(await told(TRANSFERS.shardNotNoted, cancelled)).toBe(0);
  expect((await unnamed(TRANSFERS.shardNotNoted)).join()).toContain('an account in shard 1');
});

test('a shard that the hold of a purse does not note has an account that the home does not name', async () => {
  const found = (await unnamed(TRANSFERS.shardOfPurseNotNoted)).join();
  expect(found).toContain('an account in shard 3');
  expect(found).toContain('an account in shard 0');
});
