import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../exchange/errors';
import { type Micro, parseScaled } from '../../exchange/units';
import { addressBytes } from '../records/order';
import { scriptRefusal } from '../redis/refusals';
import { homeOf, type ShardCount } from '../redis/tags';
import { type Channels, type Entry, inTransitOf, notSafe, type PurseInShard } from './channels';

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
 * How a command ended that its shard had too little collateral for: with what the home sent, with what was gathered from several
 * shards, refused, or without an end because a shard was silent or other commands moved the collateral.
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
const MICRO_DECIMALS = 6;
/** The code of the asset (lua/lib/ledger.lua). */
const COLLATERAL = 0;

/** A refusal for want of collateral. */
interface Lacking {
  readonly requiredMicro: number;
  readonly availableMicro: number;
}

/** A wallet's collateral in all of its shards. */
interface View {
  readonly purses: ReadonlyMap<number, PurseInShard>;
  readonly inTransitMicro: number;
}

interface Gathering<T> {
  readonly shard: number;
  readonly home: number;
  readonly wallet: Buffer;
  readonly token: string;
  readonly countsOwn: boolean;
  readonly command: () => Promise<T>;
}

type Home = Pick<Gathering<unknown>, 'home'>;

/** The purse of each wallet: its collateral in all shards. docs/engine.md has the protocol. */
export function createPurse({ channels, count, grantMicro, onPull = () => undefined }: PurseOptions): Purse {
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
    const gathering = { shard, home, wallet, token: randomUUID(), countsOwn, command };
    try {
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
    first: Lacking,
  ): Promise<{ readonly end: PullEnd; readonly done: T }> {
    const { shard, home, wallet, command } = gathering;
    let lacking = first;
    const arriving = home === shard ? null : await pullFromHome(shard, home, wallet, lacking);
    if (arriving) {
      // It leaves right behind the command that takes the collateral, on the same connection, and does not wait for its reply.
      const second = await attempt(command);
      if ('done' in second) return { end: 'home', done: second.done };
      await arriving.arrival;
      // It overtook the collateral when that Redis did not know the script yet, or when more than one entry had to be taken.
      const third = await attempt(command);
      if ('done' in third) return { end: 'home', done: third.done };
      lacking = third;
    }
    return { end: 'gathered', done: await gather(gathering, lacking) };
  }

  /** Most pulls end here: the home has enough. Null when it has not. */
  async function pullFromHome(
    shard: number,
    home: number,
    wallet: Buffer,
    lacking: Lacking,
  ): Promise<{ readonly arrival: Promise<void> } | null> {
    const needMicro = lacking.requiredMicro - lacking.availableMicro;
    const sent = await channels.send({
      ...{ from: home, to: shard, wallet, needMicro, token: '' },
      home: { grantMicro },
    });
    if (sent.code !== 'OK') return null;
    const arrival = arrive(home, shard, sent.entry);
    // The command may be done without it.
    arrival.catch(() => undefined);
    return { arrival };
  }

  /** Takes what was sent: the entry alone when nothing else is on its way, else all that is. */
  async function arrive(from: number, to: number, entry: Entry | null): Promise<void> {
    if (entry && (await channels.take(from, to, entry))) return;
    if (!(await channels.drain(from, to))) throw notSafe();
  }

  /** The first look is without the hold, so a wallet that has too little does not wait for its other commands. */
  async function gather<T>(gathering: Gathering<T>, first: Lacking): Promise<T> {
    const { shard, home, wallet, token, countsOwn, command } = gathering;
    let lacking = first;
    let before: PurseInShard | null = null;
    let view: View | null = null;
    let isHeld = false;
    try {
      for (let round = 0; round <= ROUNDS_MAX; round++) {
        const held = round > 0 ? await holdPurse(gathering) : null;
        isHeld ||= held !== null;
        // The first look also tells who is to send once the purse is held: a shard that has less by then sends nothing.
        if (view === null || round > 1 || countsOwn)
          view = await lookAt(gathering, held?.shards ?? (await channels.shardsOf(home, wallet)));
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
        if (isKnown && !held) continue;
        if (isKnown && held) await bring(gathering, view, held.nonce, lacking.requiredMicro - ownMicro);
        before = countsOwn ? await channels.look(shard, wallet) : null;
        const next = await attempt(command);
        if ('done' in next) return next.done;
        lacking = next;
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
      const view = await lookAt({ shard, home, wallet }, await channels.shardsOf(home, wallet));
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

  async function lookAt(
    { shard, home, wallet }: Pick<Gathering<unknown>, 'shard' | 'home' | 'wallet'>,
    others: readonly number[],
  ): Promise<View> {
    const shards = [...new Set([shard, home, ...others])];
    const found = await Promise.all(shards.map(async (k) => [k, await channels.look(k, wallet)] as const));
    return { purses: new Map(found), inTransitMicro: inTransitOf(found.map(([, purse]) => purse)) };
  }

  const freeAt = ({ home }: Home, { purses }: View, shard: number): number =>
    purses.get(shard)?.freeMicro ?? (shard === home ? grantMicro : 0);

  const totalOf = (gathering: Home, view: View): number =>
    [...view.purses.keys()].reduce((sum, k) => sum + freeAt(gathering, view, k), view.inTransitMicro);

  /** Brings what is needed: first what is on its way already, then from the fewest shards, which are the largest. */
  async function bring<T>(
    gathering: Gathering<T>,
    view: View,
    nonce: number,
    needMicro: number,
  ): Promise<void> {
    const { shard, home, wallet, token } = gathering;
    const shards = [...view.purses.keys()];
    if (view.inTransitMicro !== 0) {
      const pairs = shards.flatMap((from) =>
        shards.filter((to) => to !== from).map((to) => [from, to] as const),
      );
      await Promise.all(pairs.map(([from, to]) => arrive(from, to, null)));
      return;
    }
    const donors = shards
      .filter((k) => k !== shard)
      .map((from) => ({ from, freeMicro: freeAt(gathering, view, from) }))
      .sort((a, b) => b.freeMicro - a.freeMicro);
    const sends: Promise<void>[] = [];
    let left = needMicro;
    for (const { from, freeMicro } of donors) {
      const part = Math.min(left, freeMicro);
      if (part <= 0) break;
      left -= part;
      const terms = from === home ? { grantMicro } : { nonce };
      const send = channels.send({ from, to: shard, wallet, needMicro: part, token, home: terms });
      sends.push(send.then((sent) => (sent.code === 'OK' ? arrive(from, shard, sent.entry) : undefined)));
    }
    await Promise.all(sends);
  }

  return { funded, tried };
}

const hasSameMoves = (a: PurseInShard, b: PurseInShard | undefined): boolean =>
  a.sentMicro === b?.sentMicro && a.gotMicro === b.gotMicro;

const insufficient = ({ requiredMicro }: Lacking, totalMicro: number): Refusal =>
  scriptRefusal('INSUFFICIENT_BALANCE', [requiredMicro, totalMicro, COLLATERAL]);

/** The command's answer, or the collateral that it lacks. Tokens are in the shard of their market alone. */
async function attempt<T>(command: () => Promise<T>): Promise<{ readonly done: T } | Lacking> {
  try {
    return { done: await command() };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'INSUFFICIENT_BALANCE') throw error;
    const { asset, required, available } = error.extra;
    if (asset !== 'COLLATERAL') throw error;
    return { requiredMicro: microOf(required), availableMicro: microOf(available) };
  }
}

const microOf = (text: unknown): number => Number(parseScaled(String(text), MICRO_DECIMALS));
