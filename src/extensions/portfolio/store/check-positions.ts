import type { MarketId } from '../../../exchange/market';
import { formatMicro, micro } from '../../../exchange/units';
import type { Audited } from '../../../store/audit/audit';
import { ASSETS, total } from '../../../store/audit/check-accounts';
import type { Findings } from '../../../store/audit/report';
import { decodeEvent, kindOf, type OutboxEvent } from '../../../store/outbox/outbox';
import { readStreamRange } from '../../../store/outbox/stream-range';
import { decodeTokens, FEE_ACCOUNT } from '../../../store/records/account';
import { addressBytes } from '../../../store/records/order';
import { gapOf, hasHolders, JOURNAL, LACKS_ENTRIES } from './journal';
import { NO_POSITIONS, unpackPositions } from './records';
import { changeOf, sidesOf } from './sides';

/** Tokens that moved after a mark of the journal, by `<wallet> <market> <outcome>`. */
interface Pending {
  readonly mark: string;
  reached: string;
  readonly moved: Map<string, bigint>;
}

/** The parts of a market in a list of read_positions. */
const PARTS = 5;
const WALLETS_STEP = 100;
const ENTRIES_STEP = 200;

/**
 * Checks that the journal's positions equal the wallets' tokens. Both are read at one moment; tokens that the journal has
 * not booked yet are subtracted from the balances, so the comparison needs no tolerance.
 */
export async function checkPositions(options: Audited): Promise<void> {
  const { run, keys, findings, onStep, funds, accounts } = options;
  // With funds on a chain, tokens move without the exchange, so the journal cannot know all of them.
  if (funds !== null) return;
  if (await lacksEntries(options)) {
    findings.add({ kind: 'POSITION', detail: LACKS_ENTRIES });
    return;
  }
  const isIndexed = await hasHolders(options);
  const wallets = [...accounts].filter((account) => account !== FEE_ACCOUNT);
  let pending: Pending = { mark: '', reached: '', moved: new Map() };
  for (let from = 0; from < wallets.length; from += WALLETS_STEP) {
    const part = wallets.slice(from, from + WALLETS_STEP);
    const args = [keys.prefix, JOURNAL, ...part.map(addressBytes)] as const;
    const [mark, last, ...lists] = await run('read_positions', [keys.readers, keys.outbox], args);
    pending = await follow(options, pending, mark.toString(), last.toString());
    for (const [i, wallet] of part.entries()) {
      checkWallet(wallet, lists[i] ?? [], pending, findings);
      if (isIndexed) checkHolder(wallet, lists[i] ?? [], findings);
    }
    await onStep();
  }
}

/** Whether the journal has a gap, or will have one when it starts. */
async function lacksEntries({ redis, keys }: Audited): Promise<boolean> {
  if ((await gapOf({ redis, keys })) !== null) return true;
  if ((await redis.hget(keys.readers, JOURNAL)) !== null) return false;
  const outbox = await readStreamRange(redis, keys);
  return outbox !== null && outbox.added > outbox.length;
}

function checkWallet(wallet: string, list: readonly Buffer[], { moved }: Pending, findings: Findings): void {
  for (let i = 0; i < list.length; i += PARTS) {
    const [market, booked, held] = list.slice(i, i + 3) as [Buffer, Buffer, Buffer];
    const marketId = market.toString('latin1');
    const tokens = held.length > 0 ? decodeTokens(held) : null;
    const positions = booked.length > 0 ? unpackPositions(booked) : null;
    for (const outcome of [0, 1] as const) {
      const later = moved.get(`${wallet} ${marketId} ${outcome}`) ?? 0n;
      const expected = (tokens ? total(tokens[outcome]) : 0n) - later;
      findings.compare(text(expected), text(positions?.[outcome].sizeMicro ?? 0n), {
        kind: 'POSITION',
        wallet,
        marketId,
        asset: ASSETS[outcome],
        detail:
          'the position of the wallet, against the tokens it holds; exchange journal rebuild puts it right',
      });
    }
  }
}

/** The index of the holders is written with the positions, so both are always equal. */
function checkHolder(wallet: string, list: readonly Buffer[], findings: Findings): void {
  for (let i = 0; i < list.length; i += PARTS) {
    const [market, booked, , ...sizes] = list.slice(i, i + PARTS) as [Buffer, Buffer, Buffer, Buffer, Buffer];
    const positions = booked.length > 0 ? unpackPositions(booked) : NO_POSITIONS;
    for (const outcome of [0, 1] as const) {
      findings.compare(text(positions[outcome].sizeMicro), text(BigInt(sizes[outcome].toString())), {
        kind: 'POSITION',
        wallet,
        marketId: market.toString('latin1'),
        asset: ASSETS[outcome],
        detail: 'the wallet among the holders, against its position; exchange journal rebuild puts it right',
      });
    }
  }
}

const text = (amount: bigint): string =>
  amount < 0n ? `-${formatMicro(micro(Number(-amount)))}` : formatMicro(micro(Number(amount)));

/** Adds the entries up to `last`; it starts again when the journal has moved on. */
async function follow(options: Audited, before: Pending, mark: string, last: string): Promise<Pending> {
  const { redis, keys, matches, onStep } = options;
  const pending = before.mark === mark ? before : { mark, reached: mark, moved: new Map<string, bigint>() };
  const add = (wallet: string, marketId: MarketId, outcome: number, tokens: bigint): void => {
    const name = `${wallet} ${marketId} ${outcome}`;
    pending.moved.set(name, (pending.moved.get(name) ?? 0n) + tokens);
  };
  for (;;) {
    const entries = await redis.xrangeBuffer(keys.outbox, `(${pending.reached}`, last, 'COUNT', ENTRIES_STEP);
    const events = entries
      .map(([, fields]) => fields[1] as Buffer)
      .filter((packed) => kindOf(packed) === 'TRADE' || kindOf(packed) === 'BALANCE')
      .map(decodeEvent);
    for (const event of events) if (event.kind === 'BALANCE') addMoves(event, add);
    for (const match of await readable(
      matches,
      events.filter(({ kind }) => kind === 'TRADE'),
    )) {
      if (match instanceof Error) continue;
      for (const side of sidesOf(match)) {
        const { maker, marketId, outcome } = side.order;
        add(maker, marketId, outcome, changeOf(side).tokensMicro);
      }
    }
    pending.reached = entries.at(-1)?.[0].toString() ?? pending.reached;
    await onStep();
    if (entries.length < ENTRIES_STEP) return pending;
  }
}

/** One unreadable order, which is reported elsewhere, must not hide the other matches. */
async function readable(matches: Audited['matches'], trades: readonly OutboxEvent[]) {
  try {
    return await matches.load(trades);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const each = trades.map((trade) => matches.load([trade]).catch(unreadable));
    return (await Promise.all(each)).flat();
  }
}

function isUnreadable(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'RangeError' || / in a stored record$/.test(message);
}

function unreadable(error: unknown): Error[] {
  if (isUnreadable(error)) return [new Error(String(error))];
  throw error;
}

function addMoves(
  { wallets, moves, marketId }: OutboxEvent,
  add: (wallet: string, marketId: MarketId, outcome: number, tokens: bigint) => void,
): void {
  for (const [i, { reason, yesMicro, noMicro }] of moves.entries()) {
    const sign = reason === 'SPLIT' ? 1n : -1n;
    add(wallets[i] ?? '', marketId, 0, sign * BigInt(yesMicro));
    add(wallets[i] ?? '', marketId, 1, sign * BigInt(noMicro));
  }
}
