import { Refusal } from '../../../exchange/errors';
import { accountName } from '../../../store/records/account';
import { CHANNEL_ENTRY } from '../../../store/records/layout';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import { homeOf, type ShardCount } from '../../../store/redis/tags';
import type { BrokenChannel, KeptEntry } from './damage';
import type { Payment, RepairOptions } from './repair';

export interface Mending {
  /** Takes back an amount that the wallet has twice; the payments have less when there is less. */
  collect(channel: BrokenChannel, wallet: Buffer, amountMicro: number): Promise<Payment[]>;
  /** Makes a channel whole of which nothing is lacking any more. */
  mend(channel: BrokenChannel): Promise<void>;
}

interface Taking {
  readonly from: number;
  readonly to: number;
  readonly wallet: Buffer;
  readonly mostMicro: number;
  readonly payer: Payment['payer'];
  readonly hasEntry: boolean;
}

/** Entries of one step. */
const STEP = 500;
const MARK_ENTRY: KeptEntry = { wallet: Buffer.alloc(20), amountMicro: 0, nonce: 0 };

/**
 * The steps of a repair. The sender lost that it had sent an amount, so it is taken out of an account there now and counts as sent; the
 * other shard has it. Free collateral of a third shard goes to the sender first, through a channel that is whole.
 */
export function createMending(
  { redis, run, shards }: RepairOptions,
  drain: (from: number, to: number) => Promise<void>,
  isBroken: (from: number, to: number) => boolean,
): Mending {
  const keysOf = (shard: number): Keys => shards[shard] as Keys;

  async function take({ from, to, wallet, mostMicro, payer, hasEntry }: Taking): Promise<number> {
    const keys = keysOf(from);
    const sent = (await redis.hget(keys.sums, `sent:${to}`)) ?? '0';
    const [code, , amount] = await run(
      'resend_collateral',
      [keys.channel(to), keys.cash, keys.sums, keys.outbox, keys.mode],
      [keys.prefix, wallet, to, String(mostMicro), payer === 'FEES' ? 1 : 0, hasEntry ? 1 : 0, sent],
    );
    if (code.toString() !== 'OK') throw moved(code.toString());
    return Number(amount);
  }

  async function note(wallet: Buffer, shard: number): Promise<void> {
    const home = keysOf(homeOf(wallet, shards.length as ShardCount));
    await run('hold_purse', [home.purseHold(wallet), home.purses, home.cash], [wallet, '', 0, shard]);
  }

  /** The free collateral of one account in any shard, the sender's first. */
  async function takeAnywhere(
    { from, to }: BrokenChannel,
    wallet: Buffer,
    amountMicro: number,
    payer: Payment['payer'],
  ): Promise<Payment[]> {
    const paid: Payment[] = [];
    const others = [...shards.keys()].filter((shard) => shard !== from && !isBroken(shard, from));
    let left = amountMicro;
    for (const shard of [from, ...others]) {
      if (left === 0) break;
      const isSender = shard === from;
      // The balance of the wallet counts what was sent for it in the shards that its home notes.
      if (!isSender && payer === 'FEES') await note(wallet, shard);
      const rest = { wallet, payer, mostMicro: left };
      const taken = await take({ ...rest, from: shard, to: isSender ? to : from, hasEntry: !isSender });
      if (taken === 0) continue;
      if (!isSender) {
        await drain(shard, from);
        const passed = { from, to, wallet, mostMicro: taken, payer: 'WALLET', hasEntry: false } as const;
        if ((await take(passed)) !== taken) throw moved('MOVED');
      }
      left -= taken;
      paid.push({ wallet: accountName(wallet), amountMicro: taken, payer, shard });
    }
    return paid;
  }

  async function collect(channel: BrokenChannel, wallet: Buffer, amountMicro: number): Promise<Payment[]> {
    const own = await takeAnywhere(channel, wallet, amountMicro, 'WALLET');
    const left = own.reduce((rest, payment) => rest - payment.amountMicro, amountMicro);
    return left === 0 ? own : [...own, ...(await takeAnywhere(channel, wallet, left, 'FEES'))];
  }

  async function mend({ from, to, mark, last, kept }: BrokenChannel): Promise<void> {
    const keys = keysOf(from);
    const draft = keys.channelDraft(to);
    const [seconds] = await holderOf(redis, keys).time();
    const ms = Math.max(Number(seconds) * 1_000, Number(mark.split('-')[0]) + 1);
    await redis.del(draft);
    await redis.xadd(draft, mark, 'e', packed(MARK_ENTRY, '0-0'));
    let before = mark;
    for (let at = 0; at < kept.length; at += STEP) {
      const added = kept.slice(at, at + STEP).map((entry, i) => {
        const id = `${ms}-${at + i}`;
        const adding = redis.xadd(draft, id, 'e', packed(entry, before));
        before = id;
        return adding;
      });
      await Promise.all(added);
    }
    const sent = (await redis.hget(keys.sums, `sent:${to}`)) ?? '0';
    const scriptKeys = [keys.channel(to), draft, keys.sums, keys.mode] as const;
    const code = (await run('mend_channel', scriptKeys, [to, last, sent])).toString();
    if (code !== 'OK') throw moved(code);
  }

  return { collect, mend };
}

function packed({ wallet, amountMicro, nonce }: KeptEntry, before: string): Buffer {
  const [beforeMs = 0, beforeIndex = 0] = before.split('-').map(Number);
  return CHANNEL_ENTRY.pack({ wallet, amountMicro, nonce, beforeMs, beforeIndex });
}

const moved = (code: string): Refusal =>
  code === 'MODE'
    ? new Refusal('INVALID_REQUEST', 'a repair needs the mode HALTED: set it with exchange mode HALTED')
    : new Refusal('UNAVAILABLE', 'collateral has moved meanwhile; run the command again');
