import { EXCHANGE, matchId } from '../../src/chain/exchange-contract';
import type { SettlementRecord } from '../../src/store/records/settlement';
import { SCALE } from './operator';
import { addChange, type Changes } from './predicted';
import type { Receipt } from './rpc';
import type { Placed, StormWorld } from './storm-world';
import { COLLATERAL, collateralAbi, ctfAbi } from './world';

/** The changes of balances: those that settlement records predict, and those that the events of the token contracts name. */
type Orders = ReadonlyMap<string, Placed>;

const placed = (orders: Orders, hash: string): Placed => {
  const found = orders.get(hash);
  if (!found) throw new Error(`no order ${hash}`);
  return found;
};

/** The amount that an order gets for `gives`, at its own limit. */
const getsOf = ({ signed }: Placed, gives: bigint): bigint =>
  (gives * signed.takerAmount) / signed.makerAmount;

export function predict(
  changes: Changes,
  { settlement }: SettlementRecord,
  orders: Orders,
  fees: string,
): void {
  if (settlement === null) throw new Error('a record without amounts');
  const move = ({ maker, side, signed }: Placed, gives: bigint, gets: bigint, fee: bigint): void => {
    const [from, to] = side === 0 ? [COLLATERAL, signed.tokenId] : [signed.tokenId, COLLATERAL];
    addChange(changes, maker, from, -gives);
    addChange(changes, maker, to, gets - fee);
    addChange(changes, fees, to, fee);
  };
  const taker = placed(orders, settlement.takerHash);
  let [tokens, collateral] = [0n, 0n];
  for (const [i, hash] of settlement.makerHashes.entries()) {
    const maker = placed(orders, hash);
    const gives = settlement.makerFillAmounts[i] ?? 0n;
    const gets = getsOf(maker, gives);
    move(maker, gives, gets, settlement.makerFeeAmounts[i] ?? 0n);
    const [size, paid] = maker.side === 0 ? [gets, gives] : [gives, gets];
    tokens += size;
    // A set of both tokens is worth one unit each.
    collateral += maker.outcome === taker.outcome ? paid : size - paid;
  }
  const { takerFillAmount, refundAmount, takerFeeAmount } = settlement;
  if (taker.side === 0) {
    expect(takerFillAmount - refundAmount).toBe(collateral);
    move(taker, collateral, tokens, takerFeeAmount);
  } else {
    expect(takerFillAmount).toBe(tokens);
    move(taker, tokens, collateral, takerFeeAmount);
  }
}

/** Of the wallets given. Amounts that the contract keeps for a wallet count as delivered. */
export function movedIn(
  { logs }: Receipt,
  world: StormWorld['world'],
  wallets: ReadonlySet<string>,
): Changes {
  const changes: Changes = new Map();
  const add = (wallet: unknown, asset: bigint, amount: bigint): void => {
    const address = String(wallet).toLowerCase();
    if (wallets.has(address)) addChange(changes, address, asset, amount);
  };
  const transfer = (from: unknown, to: unknown, asset: bigint, amount: bigint): void => {
    add(from, asset, -amount);
    add(to, asset, amount);
  };
  for (const log of logs) {
    const at = log.address.toLowerCase();
    if (at === world.collateral.toLowerCase()) {
      const found = collateralAbi.parseLog(log);
      if (found?.name === 'Transfer') transfer(found.args[0], found.args[1], COLLATERAL, found.args[2]);
    } else if (at === world.ctf.toLowerCase()) {
      const found = ctfAbi.parseLog(log);
      if (found?.name === 'TransferSingle')
        transfer(found.args[1], found.args[2], found.args[3], found.args[4]);
      if (found?.name !== 'TransferBatch') continue;
      const [, from, to, ids, amounts] = found.args;
      for (const [i, id] of ids.entries()) transfer(from, to, id, amounts[i]);
    } else {
      const found = EXCHANGE.parseLog(log);
      if (found?.name === 'Held') add(found.args[0], found.args[1], found.args[2]);
    }
  }
  return changes;
}

const AT_ONCE = 20;

/** Some at a time, because each asks the chain. */
export async function forEach<T>(list: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < list.length; from += AT_ONCE)
    await Promise.all(list.slice(from, from + AT_ONCE).map(act));
}

const withoutZeros = (changes: Changes) => [...changes].filter(([, amount]) => amount !== 0n).sort();

/** Every transaction moved what the records of its matches predict, to the wei. */
export async function checkMoved(
  { world, orders }: StormWorld,
  confirmed: readonly SettlementRecord[],
  traders: readonly string[],
): Promise<void> {
  const byTransaction = new Map<string, SettlementRecord[]>();
  for (const record of confirmed) {
    const hash = String(record.transactionHash);
    byTransaction.set(hash, [...(byTransaction.get(hash) ?? []), record]);
  }
  const fees = world.fees.address.toLowerCase();
  const wallets = new Set([...traders, fees]);
  await forEach([...byTransaction], async ([hash, records]) => {
    const receipt = await world.chain.ask<Receipt>('eth_getTransactionReceipt', hash);
    const settled = world.eventsOf(receipt).filter(({ name }) => name === 'MatchSettled');
    const ids = settled.map(({ args }) => BigInt(String(args.id)));
    expect([hash, ids.sort()]).toEqual([hash, records.map(matchId).sort()]);
    expect(records.map(({ blockNumber }) => blockNumber)).toEqual(
      records.map(() => Number(receipt.blockNumber)),
    );
    const predicted: Changes = new Map();
    for (const record of records) predict(predicted, record, orders, fees);
    expect([hash, withoutZeros(movedIn(receipt, world, wallets))]).toEqual([hash, withoutZeros(predicted)]);
  });
}

/** The contract has taken of each order what its CONFIRMED records say, and the books say the same. */
export async function checkFills(
  { world, orders, ledger, settlements }: StormWorld,
  confirmed: readonly SettlementRecord[],
  failed: readonly SettlementRecord[],
): Promise<void> {
  const taken = new Map<string, { given: bigint; settled: number; failed: number }>();
  const add = (hash: string, given: bigint, isSettled: boolean): void => {
    const { side, signed } = placed(orders, hash);
    const tokens = side === 1 ? given : (given * signed.takerAmount) / signed.makerAmount;
    const size = Number(tokens / SCALE.lotAmount);
    const one = taken.get(hash) ?? { given: 0n, settled: 0, failed: 0 };
    taken.set(hash, {
      given: one.given + (isSettled ? given : 0n),
      settled: one.settled + (isSettled ? size : 0),
      failed: one.failed + (isSettled ? 0 : size),
    });
  };
  for (const [list, isSettled] of [
    [confirmed, true],
    [failed, false],
  ] as const) {
    for (const { settlement } of list) {
      for (const [i, hash] of (settlement?.makerHashes ?? []).entries())
        add(hash, settlement?.makerFillAmounts[i] ?? 0n, isSettled);
      if (settlement) add(settlement.takerHash, settlement.takerFillAmount, isSettled);
    }
  }
  const hashes = [...taken.keys()];
  const inBooks = await ledger.settledLots(hashes);
  const records = await settlements.orders(hashes);
  await forEach([...taken], async ([hash, { given, settled, failed: lost }]) => {
    const { signed, type, side } = placed(orders, hash);
    // The size of a MARKET BUY is only what makes it FILLED: it may buy more for its budget.
    const isBudget = type === 'MARKET' && side === 0;
    const { settledLots = 0, failedLots = 0 } = inBooks.get(hash) ?? {};
    if (!isBudget) {
      expect([hash, settledLots, failedLots]).toEqual([hash, settled, lost]);
    }
    expect([hash, records.get(hash)?.filledLots]).toEqual([hash, settledLots + failedLots]);
    const [, remaining] = (await world.read('orderStatus', hash)) as [boolean, bigint];
    const left = signed.makerAmount - given;
    if (given > 0n) expect([hash, remaining]).toEqual([hash, left]);
  });
}
