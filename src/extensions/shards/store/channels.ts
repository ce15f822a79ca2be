import { Refusal } from '../../../exchange/errors';
import { partAt } from '../../../store/lists/list';
import { netField } from '../../../store/records/account';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import { refusalCode } from '../../../store/redis/refusals';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { createNotedShards } from './noted-shards';
import { type AtHome, atHomeOf, type PurseInShard, purseOf, shardsIn } from './purse-in-shard';
import { createReplicatedWrite, linkTo } from './replicated-write';

export interface SendOptions {
  readonly from: number;
  readonly to: number;
  /** 20 bytes. */
  readonly wallet: Buffer;
  readonly needMicro: number;
  /** Token of the caller's hold; empty without one. */
  readonly token: string;
  /** At the wallet's home the grant of a new wallet, elsewhere the nonce that it has at home. */
  readonly home: { readonly grantMicro: number } | { readonly nonce: number };
}

/** An entry of a channel: its id, and its bytes. */
export type Entry = readonly [id: Buffer, bytes: Buffer];

/**
 * How much was sent, or why nothing was: SHORT, when there is too little, with what the home knows if it is the home. The entry is null
 * while its loss is to be feared.
 */
export type SendReply =
  | { readonly code: 'OK'; readonly sentMicro: number; readonly entry: Entry | null }
  | { readonly code: 'SHORT'; readonly atHome: AtHome }
  | { readonly code: 'BUSY' };

export interface Channels {
  /** send_collateral. Throws HALTED. */
  send(options: SendOptions): Promise<SendReply>;
  /**
   * Takes one entry; its command leaves before this returns. False when it does not follow the last one that was taken: then `drain`
   * takes all. Throws ChannelBroken.
   */
  take(from: number, to: number, entry: Entry): Promise<boolean>;
  /**
   * Takes all that is in the channel and whose loss is not to be feared: returns false when a replica of the sender did not
   * confirm its entries in time. Throws ChannelBroken.
   */
  drain(from: number, to: number): Promise<boolean>;
  /** hold_purse; null when another gatherer holds it. */
  hold(home: number, wallet: Buffer, token: string, shard: number): Promise<AtHome | null>;
  release(home: number, wallet: Buffer, token: string): Promise<void>;
  /** Whether a gatherer holds the purse. */
  isHeld(home: number, wallet: Buffer): Promise<boolean>;
  /** The shards in which the wallet may have an account, besides its home. */
  shardsOf(home: number, wallet: Buffer): Promise<number[]>;
  /** Those of them that this process knows, and that no failover of the home makes it forget; null when it knows nothing. */
  notedOf(home: number, wallet: Buffer): readonly number[] | null;
  look(shard: number, wallet: Buffer): Promise<PurseInShard>;
  /** lift_nonce. */
  lift(shard: number, wallet: Buffer, nonce: number): Promise<void>;
}

export interface ChannelOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /**
   * Another connection, for what waits for replicas: WAIT speaks of the writes of its own connection, and all other commands on that
   * wait behind it. Without it the first one is used.
   */
  readonly waiting?: Pick<ChannelOptions, 'redis' | 'run'>;
  readonly shards: readonly Keys[];
  /** Called for each transfer that left a shard. */
  readonly onSent?: (from: number) => void;
}

/** A shard lost collateral that it had sent and that another shard has taken: nothing comes out of that channel any more. */
export class ChannelBroken extends Refusal {
  constructor(
    readonly from: number,
    readonly to: number,
  ) {
    super(
      'UNAVAILABLE',
      `shard ${from} lost entries of its channel to shard ${to} that were taken: no collateral goes that way until it is repaired`,
    );
  }
}

const HOLD_MS = 1_500;
const READ_MAX = 100;
/** The most calls of one drain. */
const DRAIN_STEPS_MAX = 1_000;

/** The steps of which a transfer of collateral from one shard to another consists. purse.ts puts them together. */
export function createChannels(options: ChannelOptions): Channels {
  const { redis, run, shards, onSent = () => undefined } = options;
  const waiting = options.waiting ?? { redis, run };
  const replicatedWrite = createReplicatedWrite(waiting.redis, shards);
  const noted = createNotedShards();

  const keysOf = (shard: number): Keys => partAt(shards, shard);

  async function send({ from, to, wallet, needMicro, token, home }: SendOptions): Promise<SendReply> {
    const keys = keysOf(from);
    const [grant, nonce] = 'grantMicro' in home ? [String(home.grantMicro), ''] : ['', home.nonce];
    const scriptKeys = [
      ...([keys.channel(to), keys.cash, keys.sums, keys.outbox, keys.mode] as const),
      ...([keys.purses, keys.purseHold(wallet)] as const),
    ] as const;
    const args = [keys.prefix, wallet, to, String(needMicro), token, grant, nonce] as const;
    const { reply, isReplicated, link } = await replicatedWrite(keys, () =>
      waiting.run('send_collateral', scriptKeys, args),
    );
    const [code, , first, second, third, bitmap] = reply;
    const name = code.toString();
    if (name === 'OK') {
      onSent(from);
      if (isReplicated && bitmap) noted.note(wallet, link, shardsIn(bitmap));
      return {
        code: name,
        sentMicro: Number(first),
        entry: isReplicated && second && third ? [second, third] : null,
      };
    }
    if (name === 'SHORT') return { code: name, atHome: atHomeOf(first, second, third) };
    if (name === 'BUSY') return { code: name };
    throw new Refusal(refusalCode(name));
  }

  async function take(from: number, to: number, entry: Entry): Promise<boolean> {
    const [code] = await takeAll(from, to, entry);
    return code === 'OK';
  }

  /** The code, and the mark then. */
  async function takeAll(from: number, to: number, entries: readonly Buffer[]) {
    const target = keysOf(to);
    const [code, , mark] = await run(
      'take_collateral',
      [target.taken, target.cash, target.sums, target.outbox],
      [target.prefix, from, ...entries],
    ).catch((error: unknown) => {
      // The account may be another wallet's, whose collateral comes first.
      if (error instanceof Refusal && error.code === 'BALANCE_LIMIT') throw isFull(from, to);
      throw error;
    });
    if (code.toString() === 'BROKEN') throw new ChannelBroken(from, to);
    return [code.toString(), mark.toString()] as const;
  }

  async function drain(from: number, to: number): Promise<boolean> {
    const [donor, target] = [keysOf(from), keysOf(to)];
    for (let step = 0; step < DRAIN_STEPS_MAX; step++) {
      const mark = (await redis.hget(target.taken, String(from))) ?? NO_ENTRY;
      const { reply, isReplicated } = await replicatedWrite(donor, () =>
        waiting.run('read_channel', [donor.channel(to), donor.sums], [mark, READ_MAX, to]),
      );
      if (!isReplicated) return false;
      const [last, , ...entries] = reply;
      if (isBefore(last.toString(), mark)) throw new ChannelBroken(from, to);
      if (entries.length === 0) return true;
      const [, taken] = await takeAll(from, to, entries);
      // Otherwise there is more, or another process took some in between.
      if (taken === last.toString()) return true;
    }
    return false;
  }

  async function hold(home: number, wallet: Buffer, token: string, shard: number) {
    const keys = keysOf(home);
    const scriptKeys = [keys.purseHold(wallet), keys.purses, keys.cash] as const;
    const { reply, isReplicated, link } = await replicatedWrite(keys, () =>
      waiting.run('hold_purse', scriptKeys, [wallet, token, HOLD_MS, shard]),
    );
    const [code, , bitmap, cash, net] = reply;
    if (isReplicated) {
      if (code.toString() !== 'OK') return null;
      const atHome = atHomeOf(bitmap, cash, net);
      noted.note(wallet, link, atHome.shards);
      return atHome;
    }
    // The bit of a shard must not be lost once collateral is there. The next order of the wallet would wait for this hold.
    if (token !== '') release(home, wallet, token).catch(() => undefined);
    throw notSafe();
  }

  async function release(home: number, wallet: Buffer, token: string): Promise<void> {
    await run('release_purse', [keysOf(home).purseHold(wallet)], [token]);
  }

  const isHeld = async (home: number, wallet: Buffer): Promise<boolean> =>
    (await redis.exists(keysOf(home).purseHold(wallet))) === 1;

  async function shardsOf(home: number, wallet: Buffer): Promise<number[]> {
    const bitmap = await redis.hgetBuffer(keysOf(home).purses, wallet);
    return bitmap ? shardsIn(bitmap) : [];
  }

  function notedOf(home: number, wallet: Buffer): readonly number[] | null {
    return noted.of(wallet, linkTo(holderOf(waiting.redis, keysOf(home))));
  }

  async function look(shard: number, wallet: Buffer): Promise<PurseInShard> {
    const keys = keysOf(shard);
    const [cash, net] = await redis.hmgetBuffer(keys.cash, wallet, netField(wallet));
    return purseOf(cash, net);
  }

  async function lift(shard: number, wallet: Buffer, nonce: number): Promise<void> {
    const keys = keysOf(shard);
    await run('lift_nonce', [keys.cash, keys.outbox, keys.raisedNonces], [keys.prefix, wallet, nonce]);
  }

  return { send, take, drain, hold, release, isHeld, shardsOf, notedOf, look, lift };
}

const isFull = (from: number, to: number): Refusal =>
  new Refusal(
    'UNAVAILABLE',
    `an account at its limit holds up the collateral from shard ${from} to shard ${to}, until it spends some; retry later`,
  );

export const notSafe = (): Refusal =>
  new Refusal('UNAVAILABLE', 'collateral of this wallet is on its way between two shards; retry');
