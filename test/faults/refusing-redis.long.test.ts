import { createFullDisk, type FullDisk } from '../support/full-disk';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { ANSWER_MS, all, answers, asking, BACK_MS, startEndlessLoad, UNAVAILABLE } from './asking';
import { violationsOf } from './invariants';
import { slowestMs } from './load';
import { startTradingFleet, type TradingFleet, type TradingFleetOptions } from './trading-fleet';

/** Tests a Redis that runs and accepts no writes: its disk is full, or it is a replica. */
const ORDERS = Number(process.env.FAULT_REFUSED ?? 60);
const REFUSING_MS = Number(process.env.FAULT_REFUSING_MS ?? 500);
/** The write that meets the end of the disk is cut in two. */
const SPARE_BYTES = 4_321;

async function withStage(
  options: TradingFleetOptions,
  story: (stage: TradingFleet) => Promise<void>,
): Promise<void> {
  const stage = await startTradingFleet({ webs: 1, markets: 1, ...options });
  try {
    await story(stage);
  } finally {
    await stage.stop();
  }
}

async function withDisk(
  appendonly: 'always' | 'everysec',
  story: (stage: TradingFleet, disk: FullDisk) => Promise<void>,
): Promise<void> {
  const disk = await createFullDisk();
  try {
    const redis = { appendonly, env: disk.env };
    await withStage({ seed: `full disk, ${appendonly}`, redis }, (stage) => story(stage, disk));
  } finally {
    disk.remove();
  }
}

async function expectWell(what: string, { journal, evidence, fleet }: TradingFleet, backMs: number) {
  expect(violationsOf(await evidence()).slice(0, 20)).toEqual([]);
  const { submissions, wrong, unavailable } = journal;
  const slowest = slowestMs(journal);
  tell(
    `${what}: ${submissions.length} orders, ${unavailable} times 503, slowest answer ${Math.round(slowest)} ms, back in ${Math.round(backMs)} ms`,
  );
  expect(wrong).toEqual([]);
  expect(fleet.logs()).not.toContain('INTERNAL');
  expect([...fleet.webs, ...fleet.workers].every((one) => one.isUp())).toBe(true);
  expect(slowest).toBeLessThan(ANSWER_MS);
  expect(backMs).toBeLessThan(BACK_MS);
}

// A limit on the size of a process's files replaces the full disk; only Linux can change it for another process.
describe(process.platform === 'linux' ? 'a full disk' : 'a full disk (needs Linux)', () => {
  const onLinux = process.platform === 'linux' ? test : test.skip;

  onLinux(
    'with appendfsync always and a full disk, Redis ends at every start, and acknowledged writes exist when there is space',
    () =>
      withDisk('always', async (stage, disk) => {
        const { redis } = stage.fleet;
        const { writes, reads, ready, back, epoch, cancelled } = await asking(stage);
        const before = await epoch();
        const load = startEndlessLoad(stage, 21);
        await load.goesOn(ORDERS);
        disk.fill(redis, SPARE_BYTES);
        await redis.gone();
        for (const asks of [writes, reads, { ready }])
          expect(await answers(asks)).toEqual(all(asks, UNAVAILABLE));
        // As a supervisor starts it again.
        await redis.revive();
        await redis.gone();
        expect(await answers(writes)).toEqual(all(writes, UNAVAILABLE));
        disk.clear(redis);
        await redis.revive();
        const backMs = await back();
        await load.goesOn(ORDERS);
        await load.stop();
        expect(await cancelled()).toBe(true);
        await expectWell('disk full, appendfsync always', stage, backMs);
        expect((await ready()).body).toMatchObject({ epoch: before, durability: 'always' });
      }),
  );

  onLinux(
    'with appendfsync everysec and a full disk, writes are refused, reads continue, and with space everything recovers',
    () =>
      withDisk('everysec', async (stage, disk) => {
        const { redis } = stage.fleet;
        const { writes, reads, ready, back, cancelled } = await asking(stage);
        const load = startEndlessLoad(stage, 22);
        await load.goesOn(ORDERS);
        disk.fill(redis, SPARE_BYTES);
        await until('Redis has noticed', async () =>
          (await redis.ask('INFO persistence')).includes('aof_last_write_status:err'),
        );
        expect(await answers(writes)).toEqual(all(writes, UNAVAILABLE));
        expect(await answers(reads)).toEqual(all(reads, '200'));
        expect((await ready()).body.detail).toBe('Redis answers MISCONF');
        await sleep(REFUSING_MS);
        expect(await answers(writes)).toEqual(all(writes, UNAVAILABLE));
        expect(await answers(reads)).toEqual(all(reads, '200'));
        disk.clear(redis);
        const backMs = await back();
        await load.goesOn(ORDERS);
        await load.stop();
        expect(await cancelled()).toBe(true);
        // By then, accepted writes that did not fit are on the disk, too.
        await until('Redis has written all', async () => {
          const told = await redis.ask('INFO persistence');
          return /aof_buffer_length:0\r/.test(told) && /aof_last_write_status:ok\r/.test(told);
        });
        await redis.kill();
        await redis.revive();
        await back();
        await expectWell('disk full, appendfsync everysec', stage, backMs);
      }),
  );
});

test('a Redis that becomes a replica refuses writes, loses nothing and keeps its epoch', () =>
  withStage({ seed: 'read-only' }, async (stage) => {
    const { redis } = stage.fleet;
    const { writes, reads, ready, back, epoch, cancelled } = await asking(stage);
    const before = await epoch();
    const load = startEndlessLoad(stage, 23);
    let backMs = 0;
    // Twice, because the second time it was a replica before.
    for (let turn = 0; turn < 2; turn++) {
      await load.goesOn(ORDERS);
      // No process listens there.
      await redis.ask('REPLICAOF 127.0.0.1 1');
      expect(await answers(writes)).toEqual(all(writes, UNAVAILABLE));
      expect(await answers(reads)).toEqual(all(reads, '200'));
      expect((await ready()).body.detail).toBe('Redis answers READONLY');
      await sleep(REFUSING_MS);
      await redis.ask('REPLICAOF NO ONE');
      backMs = Math.max(backMs, await back());
      expect(await epoch()).toBe(before);
    }
    await load.goesOn(ORDERS);
    await load.stop();
    expect(await cancelled()).toBe(true);
    await expectWell('read-only', stage, backMs);
  }));
