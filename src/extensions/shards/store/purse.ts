import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import type { Micro } from '../../../exchange/units';
import { addressBytes } from '../../../store/records/order';
import { homeOf, type ShardCount } from '../../../store/redis/tags';
import { type Channels, type Entry, notSafe } from './channels';
import { attempt, type InsufficientFunds, insufficient } from './insufficient-funds';
import type { AtHome, PurseInShard } from './purse-in-shard';
import { createViews, hasSameMoves, type Needy, type View } from './purse-view';

export interface Purse {
  /**
   * Runs a command of a wallet at a shard. When it is refused for want of collateral, brings the wallet's collateral there from its
   * other shards and runs it again. INSUFFICIENT_BALANCE then means that all shards together have too little, and names their sum;
   * a shard that does not answer is an error, never that refusal. `countsOwn` is for a command that also counts what is not free, as
   * a replacement does with the reserve of the order that it replaces.
   */
  funded<T>(shard: number, address: string, command: () => Promise<T>, countsOwn?: boolean): Promise<T>;
  /**
   * Runs a dry run of a wallet at a shard, and moves nothing. When the shard alone has too little, the collateral of all shards is
   * counted: INSUFFICIENT_BALANCE if the sum is too small, else the dry run runs again and looks at no collateral.
   */
  tried<T>(shard: number, address: string, command: (isCovered: boolean) => Promise<T>): Promise<T>;
}

/**
 * How a command ended that its shard had too little collateral for: with what the home sent, with what was gathered from any of the
 * wallet's shards, refused, or without an end because a shard was silent or other commands moved the collateral.
 */
export type PullEnd = 'home' | 'gathered' | 'refused' | 'failed';

interface PurseOptions {
  readonly channels: Channels;
  readonly count: ShardCount;
  /** The grant of a new wallet, at its home. */
  readonly grantMicro: Micro;
  /** Called once for each command that its shard has too little collateral for. */
  readonly onPull?: (end: PullEnd) => void;
}

/** The most attempts to bring a wallet's collateral together, while its other commands move some of it. */
const ROUNDS_MAX = 8;
/** The time for which a command waits for another gatherer of the same wallet, and looks again after each step. */
const BUSY_MS_MAX = 2_000;
const BUSY_STEP_MS = 15;

interface Gathering<T> extends Needy {
  readonly token: string;
  /**
   * Whether every donor may send to the shard without the hold: no failover of the home makes it forget the shard. It was so before the
   * home told its nonce, because a raise in between would pass a shard by that is noted only after it.
   */
  readonly isNoted: boolean;
  readonly countsOwn: boolean;
  readonly command: () => Promise<T>;
}

/** The purse of each wallet: its collateral in all shards. docs/inside/engine.md has the protocol. */
export function createPurse({ channels, count, grantMicro, onPull = () => undefined }: PurseOptions): Purse {
  const { lookAt, freeAt, totalOf, donorsOf, hasOneDonor } = createViews(channels, grantMicro);

  async function funded<T>(
    shard: number,
    address: string,
    command: () => Promise<T>,
    countsOwn = false,
  ): Promise<T> {
    const first = await attempt(command);
    if ('done' in first) return first.done;
    const wallet = addressBytes(address);
    const home = homeOf(wallet, count);
    try {
      const isNoted = shard === home || (channels.notedOf(home, wallet)?.includes(shard) ?? false);
      const gathering = { shard, home, wallet, token: randomUUID(), isNoted, countsOwn, command };
      const { end, done } = await pulled(gathering, first);
      onPull(end);
      return done;
    } catch (error) {
      onPull(error instanceof Refusal && error.code !== 'UNAVAILABLE' ? 'refused' : 'failed');
      throw error;
    }
  }

  async function pulled<T>(
    gathering: Gathering<T>,
    first: InsufficientFunds,
  ): Promise<{ readonly end: PullEnd; readonly done: T }> {
    if (knowsDonors(gathering)) return { end: 'gathered', done: await gather(gathering, first, null) };
    const asked = await askHome(gathering, first);
    if (!('arrival' in asked)) return { end: 'gathered', done: await gather(gathering, first, asked.atHome) };
    const next = await behind([asked.arrival], gathering.command);
    if ('done' in next) return { end: 'home', done: next.done };
    return { end: 'gathered', done: await gather(gathering, next, null) };
  }

  /**
   * Whether others than the home may send, and each of them at once. All are looked at then, because half of what the largest has
   * lasts longest: with 90 % of the money reserved over eight shards, 3 of 100 orders need another shard instead of 5 (simulated).
   * A command that counts its own reserve cannot be paid for without the hold, unless the home pays.
   */
  const knowsDonors = ({ shard, home, wallet, isNoted, countsOwn }: Gathering<unknown>): boolean =>
    home !== shard &&
    isNoted &&
    !countsOwn &&
    (channels.notedOf(home, wallet) ?? []).some((k) => k !== home && k !== shard);

  /** The home has enough, or it tells what it knows, unless another gatherer has the hold. */
  async function askHome<T>(
    { shard, home, wallet }: Gathering<T>,
    lacking: InsufficientFunds,
  ): Promise<{ readonly arrival: Promise<void> } | { readonly atHome: AtHome | null }> {
    if (home === shard) return { atHome: null };
    const needMicro = lacking.requiredMicro - lacking.availableMicro;
    const sent = await channels.send({
      from: home,
      to: shard,
      wallet,
      needMicro,
      token: '',
      home: { grantMicro },
    });
    if (sent.code !== 'OK') return { atHome: sent.code === 'SHORT' ? sent.atHome : null };
    return { arrival: arriving(home, shard, sent.entry) };
  }

  /**
   * Runs the command behind the commands that take what was sent: it leaves right after them, on the same connection, and does not
   * wait for their replies.
   */
  async function behind<T>(
    arrivals: readonly Promise<void>[],
    command: () => Promise<T>,
  ): Promise<{ readonly done: T } | InsufficientFunds> {
    const next = await attempt(command);
    if ('done' in next || arrivals.length === 0) return next;
    // It overtook the collateral when that Redis did not know the script yet, or when more than one entry had to be taken.
    await Promise.all(arrivals);
    return attempt(command);
  }

  /** An error of it goes to the callers that wait for it. The command may be done before it arrives, and then no caller waits. */
  function arriving(from: number, to: number, entry: Entry | null): Promise<void> {
    const arrival = arrive(from, to, entry);
    arrival.catch(() => undefined);
    return arrival;
  }

  /** Takes what was sent: the entry alone when nothing else is on its way, else all that is. */
  async function arrive(from: number, to: number, entry: Entry | null): Promise<void> {
    if (entry && (await channels.take(from, to, entry))) return;
    if (!(await channels.drain(from, to))) throw notSafe();
  }

  /**
   * The first look is without the hold, so a wallet that has too little does not wait for its other commands and they do not wait for it.
   * Nor does a command to which a single shard can send what lacks; it tries that once, so it cannot keep a holder from an end.
   * The look also tells who is to send once the purse is held: a shard that has less by then sends nothing.
   */
  async function gather<T>(
    gathering: Gathering<T>,
    first: InsufficientFunds,
    atHome: AtHome | null,
  ): Promise<T> {
    const { shard, home, wallet, token, isNoted, countsOwn, command } = gathering;
    let lacking = first;
    let before: PurseInShard | null = null;
    let view: View | null = null;
    let isHeld = false;
    try {
      for (let round = 0; round <= ROUNDS_MAX; round++) {
        const held = round > 0 ? await holdPurse(gathering) : null;
        isHeld ||= held !== null;
        view ??= await lookAt(gathering, held ?? atHome);
        const own = freeAt(gathering, view, shard);
        // The command counted this amount at another moment. Both are comparable when nothing moved in between.
        const isKnown = !countsOwn || (before !== null && hasSameMoves(before, view.purses.get(shard)));
        const ownMicro = countsOwn ? lacking.availableMicro : own;
        const totalMicro = totalOf(gathering, view) - own + ownMicro;
        if (isKnown && totalMicro < lacking.requiredMicro) {
          // The same order, sent twice, may have been booked before the look, and then its reserve is what lacks.
          const again = await attempt(command);
          if ('done' in again) return again.done;
          throw insufficient(lacking, totalMicro);
        }
        const needMicro = lacking.requiredMicro - ownMicro;
        if (isKnown && !held && (countsOwn || !(isNoted && hasOneDonor(gathering, view, needMicro))))
          continue;
        const { nonce = 0 } = held?.purse ?? view.purses.get(home) ?? {};
        const arrivals = isKnown ? await bring(gathering, view, nonce, needMicro) : [];
        if (countsOwn) {
          await Promise.all(arrivals);
          before = await channels.look(shard, wallet);
        }
        const next = await behind(countsOwn ? [] : arrivals, command);
        if ('done' in next) return next.done;
        lacking = next;
        view = null;
      }
      throw notSafe();
    } finally {
      // The hold ends by itself, so the answer does not wait for this.
      if (isHeld) channels.release(home, wallet, token).catch(() => undefined);
    }
  }

  /** The command counted what is free here at another moment than the look, so nothing may move in between. */
  async function tried<T>(
    shard: number,
    address: string,
    command: (isCovered: boolean) => Promise<T>,
  ): Promise<T> {
    const first = await attempt(() => command(false));
    if ('done' in first) return first.done;
    const wallet = addressBytes(address);
    const home = homeOf(wallet, count);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const before = await channels.look(shard, wallet);
      const next = await attempt(() => command(false));
      if ('done' in next) return next.done;
      const view = await lookAt({ shard, home, wallet }, null);
      if (!hasSameMoves(before, view.purses.get(shard))) continue;
      const totalMicro = totalOf({ home }, view) - freeAt({ home }, view, shard) + next.availableMicro;
      if (totalMicro < next.requiredMicro) throw insufficient(next, totalMicro);
      return command(true);
    }
    throw notSafe();
  }

  async function holdPurse<T>({ home, wallet, token, shard }: Gathering<T>) {
    const startedAt = performance.now();
    for (;;) {
      const held = await channels.hold(home, wallet, token, shard);
      if (held) return held;
      if (performance.now() - startedAt > BUSY_MS_MAX)
        throw new Refusal('UNAVAILABLE', 'other orders of this wallet are moving its collateral; retry');
      await sleep(BUSY_STEP_MS);
    }
  }

  /**
   * Has what is needed sent, from the fewest shards, which are the largest, and returns its arrivals. While some of the wallet's
   * collateral is on its way, it takes that instead.
   */
  async function bring<T>(
    gathering: Gathering<T>,
    view: View,
    nonce: number,
    needMicro: number,
  ): Promise<Promise<void>[]> {
    const { shard, home, wallet, token } = gathering;
    const shards = [...view.purses.keys()];
    if (view.inTransitMicro !== 0) {
      const pairs = shards.flatMap((from) =>
        shards.filter((to) => to !== from).map((to) => [from, to] as const),
      );
      await Promise.all(pairs.map(([from, to]) => arrive(from, to, null)));
      return [];
    }
    const sends: Promise<Promise<void>[]>[] = [];
    let left = needMicro;
    for (const { from, freeMicro } of donorsOf(gathering, view)) {
      const part = Math.min(left, freeMicro);
      if (part <= 0) break;
      left -= part;
      const terms = from === home ? { grantMicro } : { nonce };
      const send = channels.send({ from, to: shard, wallet, needMicro: part, token, home: terms });
      sends.push(send.then((sent) => (sent.code === 'OK' ? [arriving(from, shard, sent.entry)] : [])));
    }
    return (await Promise.all(sends)).flat();
  }

  return { funded, tried };
}
