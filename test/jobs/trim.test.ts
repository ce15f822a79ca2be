import { createJournal } from '../../src/extensions/portfolio/store/journal';
import { unpackPositions } from '../../src/extensions/portfolio/store/records';
import { createOutbox } from '../../src/store/outbox/outbox';
import { READERS } from '../support/readers';
import { type Settling, startSettling } from './settling';

let world: Settling;
beforeEach(async () => {
  world = await startSettling();
  // Redis only deletes whole nodes of a stream.
  await world.redis.config('SET', 'stream-node-max-entries', '1');
});
afterEach(() => world.stop());

const TRADES = 20;
/** As after the first minute: no entry is kept for its age. */
const KEEP_MS = 0;

async function traded(): Promise<void> {
  const market = await world.createMarket();
  for (let i = 0; i < TRADES; i++) await world.match(market);
}

/** Acts as a web process alone, or as a relay that has processed everything. */
async function note(reader: string): Promise<void> {
  const [[last] = ['0-0']] = await world.redis.xrevrange(world.keys.outbox, '+', '-', 'COUNT', 1);
  await world.redis.hset(world.keys.readers, reader, last);
}

test('a worker that trims before it keeps the journal loses no trade to it', async () => {
  const { redis } = world;
  await traded();
  await note('broadcast');
  await note('settlement');
  const { trim } = createOutbox({ ...world, readers: READERS, keepMs: KEEP_MS });
  expect(await trim()).toBe(0);
  await createJournal(world).catchUp();
  let size = 0n;
  for (const wallet of await redis.keysBuffer('{x0}:ps:*')) {
    for (const packed of Object.values(await redis.hgetallBuffer(wallet))) {
      size += unpackPositions(packed)[0].sizeMicro;
    }
  }
  expect(size).toBe(BigInt(TRADES) * 100_000n);
  expect(await trim()).toBeGreaterThan(TRADES);
});

test.each(READERS)(
  'nothing is deleted while %s has not started, nor entries that it has not processed',
  async (late) => {
    const { redis, keys } = world;
    await traded();
    const { trim } = createOutbox({ ...world, readers: READERS, keepMs: KEEP_MS });
    for (const reader of READERS) if (reader !== late) await note(reader);
    expect(await trim()).toBe(0);
    const entries = await redis.xrange(keys.outbox, '-', '+');
    await redis.hset(keys.readers, late, entries[5]?.[0] ?? '');
    expect(await trim()).toBe(5);
    await note(late);
    await trim();
    expect(await redis.xlen(keys.outbox)).toBe(1);
  },
);

test('entries that every reader has processed are kept for a minute', async () => {
  await traded();
  for (const reader of READERS) await note(reader);
  expect(await createOutbox({ ...world, readers: READERS }).trim()).toBe(0);
});
