import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import { readMode } from '../../../store/health/health';
import { accountName } from '../../../store/records/account';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { homeOf, type ShardCount } from '../../../store/redis/tags';
import { ChannelBroken, type Channels, createChannels } from './channels';
import { type BrokenChannel, excessOf, readBroken } from './damage';
import { listChannels } from './list';
import { createMending, type Mending } from './mending';
import { shardsIn } from './purse-in-shard';

export interface RepairOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly Keys[];
}

/** Collateral that was there twice and is taken back, or is not covered by anybody. */
export interface Payment {
  /** Hex, in lower case. */
  readonly wallet: string;
  readonly amountMicro: number;
  /** Taken from the free collateral of the wallet, or from the fees. */
  readonly payer: 'WALLET' | 'FEES';
  readonly shard: number;
}

export interface RepairReport {
  readonly channels: readonly { readonly from: number; readonly to: number; readonly isWhole: boolean }[];
  readonly payments: readonly Payment[];
  /** The part of each wallet that neither it nor the fees could pay: the channel stays broken until they can. */
  readonly missing: readonly { readonly wallet: string; readonly amountMicro: number }[];
}

/** The most times that a channel is asked until the replicas of its sender have confirmed, and the pause between them. */
const DRAINS_MAX = 100;
const PAUSE_MS = 100;
const STEP = 500;
const ADDRESS_BYTES = 20;

/**
 * Takes back what is there twice since a shard lost collateral that it had sent, and makes the channels whole. The exchange must be
 * HALTED. Everything is computed from what the shards have now, so after an interruption the same call goes on.
 */
export async function repairChannels(options: RepairOptions): Promise<RepairReport> {
  const { redis, shards } = options;
  const channels = createChannels(options);
  await checkHalted(options);
  await drainAll(options, channels);
  const found = (await listChannels({ redis, shards })).filter(({ isBroken }) => isBroken);
  const payments: Payment[] = [];
  const missing = new Map<string, number>();
  if (found.length === 0) return { channels: [], payments, missing: [] };
  const broken = await Promise.all(found.map(({ from, to }) => readBroken({ redis, shards }, from, to)));
  const excess = await excessOf({ redis, shards }, broken);
  const mending = createMending(options, (from, to) => drained(channels, from, to), isBrokenOf(broken));
  for (const channel of broken) await noteShards(options, channel);
  for (const [wallet, doubledMicro] of excess) {
    let left = doubledMicro;
    for (const channel of broken) {
      const share = Math.min(left, channel.lackMicro);
      if (share <= 0) continue;
      left -= share;
      const paid = await mending.collect(channel, Buffer.from(wallet, 'latin1'), share);
      payments.push(...paid);
      const sum = paid.reduce((so, { amountMicro }) => so + amountMicro, 0);
      channel.lackMicro -= sum;
      if (sum < share) addTo(missing, wallet, share - sum);
    }
  }
  return {
    channels: await mendAll(channels, mending, broken),
    payments,
    missing: [...missing].map(([wallet, amountMicro]) => ({ wallet: nameOf(wallet), amountMicro })),
  };
}

async function mendAll(
  channels: Channels,
  mending: Mending,
  broken: readonly BrokenChannel[],
): Promise<RepairReport['channels']> {
  const ends: RepairReport['channels'][number][] = [];
  for (const channel of broken) {
    const isWhole = channel.lackMicro === 0;
    if (isWhole) {
      await mending.mend(channel);
      await drained(channels, channel.from, channel.to);
    }
    ends.push({ from: channel.from, to: channel.to, isWhole });
  }
  return ends;
}

const isBrokenOf =
  (broken: readonly BrokenChannel[]) =>
  (from: number, to: number): boolean =>
    broken.some((channel) => channel.from === from && channel.to === to);

function addTo(sums: Map<string, number>, wallet: string, amountMicro: number): void {
  sums.set(wallet, (sums.get(wallet) ?? 0) + amountMicro);
}

const nameOf = (wallet: string): string => accountName(Buffer.from(wallet, 'latin1'));

async function checkHalted({ redis, shards }: RepairOptions): Promise<void> {
  const modes = await Promise.all(shards.map((keys) => readMode(redis, keys)));
  const other = modes.findIndex(({ mode }) => mode !== 'HALTED');
  if (other < 0) return;
  throw new Refusal(
    'INVALID_REQUEST',
    `a repair needs the mode HALTED, and shard ${other} is in mode ${modes[other]?.mode}: set it with exchange mode HALTED`,
  );
}

/** Takes what is on its way in whole channels. Nothing is sent while the exchange is HALTED. */
async function drainAll({ redis, shards }: RepairOptions, channels: Channels): Promise<void> {
  for (const { from, to, isBroken } of await listChannels({ redis, shards })) {
    if (isBroken) continue;
    try {
      await drained(channels, from, to);
    } catch (error) {
      if (!(error instanceof ChannelBroken)) throw error;
    }
  }
}

async function drained(channels: Channels, from: number, to: number): Promise<void> {
  for (let tries = 0; tries < DRAINS_MAX; tries++) {
    if (await channels.drain(from, to)) return;
    await sleep(PAUSE_MS);
  }
  throw new Refusal(
    'UNAVAILABLE',
    `the replicas of shard ${from} do not confirm what it sent to shard ${to}; run the command again when they do`,
  );
}

/** With the entries, the home of a wallet may have lost that it noted the other shard. */
async function noteShards({ redis, run, shards }: RepairOptions, { to }: BrokenChannel): Promise<void> {
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer((shards[to] as Keys).cash, cursor, 'COUNT', STEP);
    const wallets = flat.filter((field, i) => i % 2 === 0 && field.length === ADDRESS_BYTES);
    const noting = wallets.map(async (wallet) => {
      const home = homeOf(wallet, shards.length as ShardCount);
      if (home === to) return;
      const keys = shards[home] as Keys;
      const bitmap = await redis.hgetBuffer(keys.purses, wallet);
      if (bitmap && shardsIn(bitmap).includes(to)) return;
      await run('hold_purse', [keys.purseHold(wallet), keys.purses, keys.cash], [wallet, '', 0, to]);
    });
    await Promise.all(noting);
    cursor = next.toString();
  } while (cursor !== '0');
}
