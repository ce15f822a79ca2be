import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { RunningRedis } from '../../../../src/local/redis';
import { decodeOrder, hashBytes, type OrderRecord } from '../../../../src/store/records/order';
import { ownChild } from '../../../support/leftovers';
import { startTestRedis } from '../../../support/redis';
import { sizeOf } from '../../../support/sample';
import { tell } from '../../../support/telling';
import { sleep, until } from '../../../support/waiting';
import type { Placing } from './placing-program';
import { openShardWorld, type ShardWorld, walletWithHome } from './world';

/**
 * A wallet's programs place orders from three processes while this one cancels all of them or raises the nonce. `SHARD_ROUNDS` is the
 * number of wallets that are raced.
 */
const ROUNDS = sizeOf('SHARD_ROUNDS', 4, 20);
const PROCESSES = 3;
const LIMIT_MS = 600_000;
const PROGRAM = path.join(__dirname, 'placing-program.ts');
const TYPESCRIPT = path.join(__dirname, '..', '..', '..', 'support', 'typescript.js');

let server: RunningRedis;
let w: ShardWorld;
let programs: ChildProcess[];
beforeAll(async () => {
  server = await startTestRedis();
  w = await openShardWorld({ urls: [server.url], count: 4 });
  programs = Array.from({ length: PROCESSES }, (_, i) =>
    ownChild(fork(PROGRAM, [server.url, String(i)], { execArgv: ['-r', TYPESCRIPT] })),
  );
  await Promise.all(programs.map((program) => told(program, 'ready')));
}, LIMIT_MS);
afterAll(async () => {
  w.stop();
  for (const program of programs) program.kill('SIGKILL');
  await server.stop();
});

async function told(program: ChildProcess, wanted: string): Promise<void> {
  const [message] = await once(program, 'message');
  if (message !== wanted) throw new Error(String(message));
}

/** Runs `act` while all programs place orders of a wallet. */
async function racing(wallet: string, act: () => Promise<void>): Promise<void> {
  const stopped = programs.map((program) => told(program, 'stopped'));
  const send = (isOver: boolean): void => {
    for (const program of programs) program.send({ wallet, isOver } satisfies Placing);
  };
  send(false);
  try {
    await act();
  } finally {
    send(true);
  }
  await Promise.all(stopped);
}

const isOpen = ({ status }: OrderRecord): boolean => status === 'OPEN' || status === 'PARTIALLY_FILLED';
const acceptedOf = (wallet: string): Promise<string[]> => w.redis.smembers(`test:accepted:${wallet}`);

/** By their hashes, the nonces of all orders of a wallet that were sent. */
const sentBy = (wallet: string): Promise<Record<string, string>> => w.redis.hgetall(`test:sent:${wallet}`);

/** Those of these orders that were booked. */
async function booked(hashes: readonly string[]): Promise<OrderRecord[]> {
  if (hashes.length === 0) return [];
  const lists = await Promise.all(
    w.shards.map(({ orders: key }) => w.redis.hmgetBuffer(key, ...hashes.map(hashBytes))),
  );
  return hashes.flatMap((hash, i) => {
    const packed = lists.map((list) => list[i]).find((one) => one);
    return packed ? [decodeOrder(hash, packed)] : [];
  });
}

const openOf = async (hashes: readonly string[]): Promise<string[]> =>
  (await booked(hashes)).filter(isOpen).map(({ orderHash }) => orderHash);

test(
  'a cancel of all orders ends every order that was accepted before it began',
  async () => {
    let [met, cancels] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const wallet = walletWithHome(round % 4, 4, round);
      await racing(wallet, async () => {
        await until('an order was accepted', async () => (await acceptedOf(wallet)).length > 0);
        for (let turn = 0; turn < 5; turn++) {
          await sleep(turn * 15);
          const before = await acceptedOf(wallet);
          const { cancelled } = await w.exchange.cancelAll(wallet, {});
          expect(await openOf(before)).toEqual([]);
          met += cancelled.length;
          cancels++;
        }
      });
    }
    tell(`${cancels} cancels of all against placing ended ${met} orders`);
    expect(met).toBeGreaterThan(ROUNDS);
    expect(await w.differences()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'after a raise of the nonce no order below it is open or accepted',
  async () => {
    const raises: { wallet: string; nonce: number; atMs: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const wallet = walletWithHome(round % 4, 4, 1_000 + round);
      await racing(wallet, async () => {
        let count = 0;
        for (let turn = 0; turn < 4; turn++) {
          await until('another order was accepted', async () => (await acceptedOf(wallet)).length > count);
          // Before the raise, which frees collateral: the programs may have spent all that there is.
          count = (await acceptedOf(wallet)).length;
          const { nonce } = await w.exchange.raiseNonce(wallet, `${round} ${turn}`);
          await w.exchange.invalidateAll(wallet, nonce);
          const [seconds, micros] = await w.redis.time();
          raises.push({ wallet, nonce, atMs: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000) });
          expect(await openBelow(wallet, nonce)).toEqual([]);
        }
      });
    }
    const below: OrderRecord[] = [];
    let [ended, all] = [0, 0];
    for (const wallet of new Set(raises.map((raise) => raise.wallet))) {
      const nonces = await sentBy(wallet);
      const orders = await booked(Object.keys(nonces));
      for (const { nonce, atMs } of raises.filter((raise) => raise.wallet === wallet))
        below.push(
          ...orders.filter(
            ({ orderHash, createdAtMs }) => Number(nonces[orderHash]) < nonce && createdAtMs > atMs,
          ),
        );
      ended += orders.filter(({ reason }) => reason === 'NONCE').length;
      all += orders.length;
    }
    expect(below).toEqual([]);
    tell(`${raises.length} raises against placing ended ${ended} of ${all} orders`);
    expect(ended).toBeGreaterThan(ROUNDS);
    expect(await w.differences()).toEqual([]);
  },
  LIMIT_MS,
);

async function openBelow(wallet: string, nonce: number): Promise<string[]> {
  const nonces = await sentBy(wallet);
  return openOf(Object.keys(nonces).filter((hash) => Number(nonces[hash]) < nonce));
}
