import { FORGOTTEN, LEFT } from '../../../src/store/records/layout';
import { addressBytes, decodeFills } from '../../../src/store/records/order';
import type { LeavingStore } from '../../extensions/archive/leaving-world';
import type { MemoryArchive } from '../../support/memory-archive';
import { check } from './check';
import type { SideBySide } from './side-by-side';

/** Naive sums and lists of everything that left, beside what Redis keeps of it. */
export function createLeftChecks({ redis, keys }: LeavingStore, archive: MemoryArchive) {
  /** Every line ever seen in a wallet's journal, in order. */
  const seen = new Map<string, string[]>();

  const leftOf = async (wallet: string): Promise<number> => {
    const packed = await redis.hgetBuffer(keys.forgotten, addressBytes(wallet));
    return packed ? FORGOTTEN.get.lines(packed) : 0;
  };
  const listOf = async (wallet: string): Promise<string[]> =>
    (await redis.lrangeBuffer(keys.journal(addressBytes(wallet)), 0, -1)).map((line) => line.toString('hex'));

  /** Before lines leave. */
  async function note(wallets: readonly string[]): Promise<void> {
    for (const wallet of wallets) {
      const known = seen.get(wallet) ?? [];
      seen.set(wallet, [...known.slice(0, await leftOf(wallet)), ...(await listOf(wallet))]);
    }
  }

  async function checkLines(wallet: string): Promise<void> {
    const [all, left] = [seen.get(wallet) ?? [], await leftOf(wallet)];
    const archived = await archive.lines(addressBytes(wallet), 0, left - 1);
    const lines = [...archived.map(({ line }) => line.toString('hex')), ...(await listOf(wallet))];
    check('lines of a journal', all.join(' '), lines.join(' '));
  }

  async function checkSums(marketId: string): Promise<void> {
    const own = [...archive.met.values()].filter((match) => match.marketId === marketId);
    const packed = await redis.hgetBuffer(keys.market(marketId), 'f');
    if (!packed) {
      check('matches that left a market', 0, own.length);
      return;
    }
    const fees = [0, 0, 0];
    let [volume, price] = [0, 0];
    for (const { tradeMs, sequence, packed: match } of own) {
      for (const fill of decodeFills(tradeMs, sequence, match)) {
        const { takerSide, takerOutcome, pricePips, sizeLots, matchType } = fill;
        volume += pricePips * sizeLots;
        price = takerOutcome === 0 ? pricePips : 10_000 - pricePips;
        const sides = { COMPLEMENTARY: 1 - takerSide, MINT: 0, MERGE: 1 }[matchType];
        const outcome = matchType === 'COMPLEMENTARY' ? takerOutcome : 1 - takerOutcome;
        for (const [side, of, fee] of [
          [takerSide, takerOutcome, fill.takerFeeMicro],
          [sides, outcome, fill.makerFeeMicro],
        ] as const)
          fees[side === 1 ? 0 : 1 + of] = (fees[side === 1 ? 0 : 1 + of] ?? 0) + fee;
      }
    }
    const last = own.at(-1);
    const naive = [last?.tradeMs, last?.sequence, own.length, volume, ...fees, price];
    check('sums of what left a market', naive.join(' '), Object.values(LEFT.read(packed)).join(' '));
  }

  async function checkAll({ ledger, marketIds }: SideBySide): Promise<void> {
    for (const wallet of ledger.addresses) await checkLines(wallet);
    for (const id of marketIds) await checkSums(id);
    const noted = await redis.hmget(keys.archive, 'orders', 'matches', 'lines');
    const { rows, met, written } = archive;
    check(
      'count of what left',
      [rows, met, written].map(({ size }) => size).join(),
      noted.map(Number).join(),
    );
  }

  return { note, checkAll };
}
