import type { Facts } from './checker';
import type { ApiOrder, ApiSettlement } from './checker-api';
import { type Changes, change, EXCHANGE_ABI, NOBODY, type SettledMatch } from './checker-chain';
import { FUNDS_REASONS, type Reason } from './checker-deeds';

/** C2 and C3: the settlements that the API shows, and those of the chain. */
const MARKET_CHARACTERS = 8;
const BUY = 0;
const BPS = 10_000n;

/** The id on the chain of a settlement `<market>-<sequence>-s<part>`: market (64 bits) | part (8) | sequence (48). */
export function chainId(id: string): bigint {
  const [market = '', sequence = '', part = ''] = id.split('-');
  if (market.length !== MARKET_CHARACTERS) throw new Error(`a settlement is called ${id}`);
  const letters = BigInt(`0x${Buffer.from(market, 'latin1').toString('hex')}`);
  return (letters << 56n) | (BigInt(part.slice(1)) << 48n) | BigInt(sequence);
}

/** C3: each record has ended, as the chain says; no wallet is blamed for a deed that it has not done. */
export function checkEnds(facts: Facts): string[] {
  const { chain, records, trades, fromBlock, lost = new Set<string>() } = facts;
  const settled = new Map<bigint, SettledMatch[]>();
  for (const one of chain.settled)
    if (one.block > fromBlock) settled.set(one.id, [...(settled.get(one.id) ?? []), one]);
  const wrong = records.flatMap((record) =>
    wrongEnd(record, settled.get(chainId(record.id)) ?? [], chain.finalBlock),
  );
  const known = new Set([...records.map(({ id }) => id), ...lost].map(chainId));
  const strange = [...settled.keys()].filter((id) => !known.has(id));
  const traded = new Set(records.flatMap(({ tradeIds }) => tradeIds));
  return [
    ...wrong.map((words) => `C3: ${words}`),
    ...strange.map((id) => `C3: the chain settled a match 0x${id.toString(16)}, of which there is no record`),
    ...trades.filter(({ id }) => !traded.has(id)).map(({ id }) => `C3: the trade ${id} has no settlement`),
    ...records.filter(({ status }) => status === 'FAILED').flatMap((record) => wrongBlame(record, facts)),
    ...wrongStrikes(facts),
  ];
}

/** Several failures of one deed are one strike. */
function wrongStrikes({ books, records }: Facts): string[] {
  const failed = records.filter(
    ({ status, failureReason = '' }) => status === 'FAILED' && STRIKES.has(failureReason),
  );
  return books.flatMap(({ wallet: { address }, balances: { standing } }) => {
    const own = failed.filter(({ failedWallet }) => failedWallet?.toLowerCase() === address.toLowerCase());
    return standing.strikes <= own.length
      ? []
      : [`C3: ${address} has ${standing.strikes} strikes for ${own.length} failures`];
  });
}

function wrongEnd(record: ApiSettlement, settled: readonly SettledMatch[], finalBlock: number): string[] {
  const { id, status, transactionHash, blockNumber } = record;
  if (settled.length > 1) return [`${id} was settled ${settled.length} times`];
  const [on] = settled;
  if (status === 'FAILED') return on ? [`${id} is FAILED, and ${on.transaction} settled it`] : [];
  if (status !== 'CONFIRMED') return [`${id} is ${status} after everything should have ended`];
  if (!on) return [`${id} is CONFIRMED, and the chain has not settled it`];
  if (on.transaction !== transactionHash || on.block !== blockNumber)
    return [`${id} was settled by ${on.transaction} in block ${on.block}, not as its record says`];
  return on.block > finalBlock ? [`${id} is CONFIRMED in block ${on.block}, which is not final`] : [];
}

/** The reasons that a wallet can cause with what it does on the chain, and those for which none is named. */
const DEEDS = new Set<string>([...FUNDS_REASONS, 'CANCELLED', 'NONCE']);
const STRIKES = new Set([...DEEDS, 'SIGNATURE']);
const NOBODYS = new Set(['EXPIRED', 'PAUSED', 'NOT_OPERATOR', 'INVALID_TOKEN', 'OUT_OF_GAS', 'UNKNOWN']);

function wrongBlame(record: ApiSettlement, { news, books }: Facts): string[] {
  const { id, failureReason = 'none', failedWallet = null } = record;
  if (NOBODYS.has(failureReason))
    return failedWallet ? [`C3: ${id} failed for ${failureReason}, for which ${failedWallet} is blamed`] : [];
  if (failedWallet === null) return [`C3: ${id} failed for ${failureReason}, and no wallet is named`];
  const orders = [record.takerOrder, ...record.makerOrders];
  const at = orders.findIndex((order) => order?.maker.toLowerCase() === failedWallet.toLowerCase());
  if (at < 0) return [`C3: ${id} failed by the fault of ${failedWallet}, which is not in the match`];
  if (!DEEDS.has(failureReason)) return [];
  const hash = [record.takerOrderHash, ...record.makerOrderHashes][at];
  const placed = books.flatMap((one) => one.orders).find(({ orderHash }) => orderHash === hash);
  const isTrue = news.since(failedWallet, [failureReason as Reason], placed?.createdAt ?? record.createdAt);
  return isTrue
    ? []
    : [`C3: ${id} failed for ${failureReason} of ${failedWallet}, which has done nothing of the kind`];
}

/** C2: each settled match moved what its record predicts, to the wei. */
export async function checkMoved({ chain, records }: Facts): Promise<string[]> {
  const { exchange } = chain.contracts;
  const fees = String(await chain.chain.read(exchange, EXCHANGE_ABI, 'feeReceiver'));
  const settled = new Map(chain.settled.map((one) => [one.id, one]));
  return records.flatMap((record) => {
    const on = settled.get(chainId(record.id));
    if (!on || record.status !== 'CONFIRMED') return [];
    const [predicted, moved] = [predict(record, fees), on.moved].map((one) =>
      shown(one, chain.contracts.tokens),
    );
    return predicted === moved ? [] : [`C2: ${record.id} should move ${predicted}, and moved ${moved}`];
  });
}

/** Sets that are made or dissolved come from the zero address, and their collateral is with the conditional tokens. */
const shown = (changes: Changes, tokens: string): string =>
  [...changes]
    .filter(([key, amount]) => amount !== 0n && !key.startsWith(NOBODY) && !key.startsWith(tokens))
    .map(([key, amount]) => `${key} ${amount}`)
    .sort()
    .join(', ');

export function predict(record: ApiSettlement, fees: string): Changes {
  const changes: Changes = new Map();
  const { takerOrder: taker } = record;
  if (taker === null) return changes;
  const move = (order: ApiOrder, gives: bigint, gets: bigint, fee: bigint): void => {
    const token = BigInt(order.tokenId);
    const [from, to] = order.side === BUY ? [0n, token] : [token, 0n];
    change(changes, order.maker, from, -gives);
    change(changes, order.maker, to, gets - fee);
    change(changes, fees, to, fee);
  };
  let [tokens, collateral, fee] = [0n, 0n, 0n];
  for (const [i, maker] of record.makerOrders.entries()) {
    const gives = BigInt(record.makerFillAmounts[i] ?? 0);
    const gets = (gives * BigInt(maker.takerAmount)) / BigInt(maker.makerAmount);
    const [size, paid] = maker.side === BUY ? [gets, gives] : [gives, gets];
    move(maker, gives, gets, feeOf(maker, size, paid));
    // A set of both tokens is worth one unit each.
    const takers = maker.tokenId === taker.tokenId ? paid : size - paid;
    tokens += size;
    collateral += takers;
    fee += feeOf(taker, size, takers);
  }
  const fill = BigInt(record.takerFillAmount);
  const [gives, gets] =
    taker.side === BUY ? [fill - BigInt(record.refundAmount), tokens] : [fill, collateral];
  move(taker, gives, gets, fee);
  return changes;
}

/**
 * The fee of a fill, from its tokens and its collateral: the rate of the smaller of that and the rest of the full sets, in
 * the asset that the order gets; rounded down.
 */
function feeOf({ side, feeRateBps }: ApiOrder, tokens: bigint, collateral: bigint): bigint {
  const rest = tokens - collateral;
  if (collateral === 0n || rest <= 0n) return 0n;
  const part = BigInt(feeRateBps) * (collateral < rest ? collateral : rest);
  return side === BUY ? (part * tokens) / (collateral * BPS) : part / BPS;
}
