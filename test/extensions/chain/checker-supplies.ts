import type { Facts } from './checker';
import { type ApiOrder, type ApiSettlement, microOf } from './checker-api';
import { COLLATERAL_ABI, EXCHANGE_ABI, NOBODY, transfersOf } from './checker-chain';
import { FUNDS_REASONS } from './checker-deeds';

/** C4 and C5: orders, and the sums of all funds. */
const BUY = 0;
const LOT_MICRO = 10_000n;

interface Filled {
  readonly order: ApiOrder;
  given: bigint;
  settled: bigint;
  failed: bigint;
  /** Failed matches by the fault of the taker: the lots go back to the order, unless the exchange is HALTED. */
  returned: bigint;
}

/** In tokens, by the order's own ratio. */
const tokensOf = ({ side, takerAmount, makerAmount }: ApiOrder, given: bigint): bigint =>
  side === BUY ? (given * BigInt(takerAmount)) / BigInt(makerAmount) : given;

function fillsOf(records: readonly ApiSettlement[]): Map<string, Filled> {
  const fills = new Map<string, Filled>();
  for (const record of records) {
    const orders = [record.takerOrder, ...record.makerOrders];
    const hashes = [record.takerOrderHash, ...record.makerOrderHashes];
    const amounts = [record.takerFillAmount, ...record.makerFillAmounts];
    for (const [i, order] of orders.entries()) {
      if (!order) continue;
      const hash = hashes[i] ?? '';
      const one = fills.get(hash) ?? { order, given: 0n, settled: 0n, failed: 0n, returned: 0n };
      const given = BigInt(amounts[i] ?? 0);
      if (record.status === 'CONFIRMED') one.given += given;
      if (record.status === 'CONFIRMED') one.settled += tokensOf(order, given);
      const isMaker = i > 0;
      const guilty = record.failedWallet?.toLowerCase();
      const isReturned = isMaker && guilty !== undefined && guilty !== order.maker.toLowerCase();
      if (record.status === 'FAILED') one[isReturned ? 'returned' : 'failed'] += tokensOf(order, given);
      fills.set(hash, one);
    }
  }
  return fills;
}

const AT_ONCE = 20;

/** The contract took of each order what its records say, and the API says the same; none ended without news of its wallet. */
export async function checkOrders({ records, chain, books, news, api }: Facts): Promise<string[]> {
  const wrong: string[] = [];
  const fills = fillsOf(records);
  const check = async ([hash, { order, given }]: [string, Filled]): Promise<void> => {
    const read = chain.chain.read(chain.contracts.exchange, EXCHANGE_ABI, 'orderStatus', hash);
    const [, remaining] = (await read) as [boolean, bigint];
    const left = BigInt(order.makerAmount) - given;
    if (given > 0n && remaining !== left)
      wrong.push(`C5: the contract has ${remaining} left of the order ${hash}, and its records ${left}`);
  };
  const list = [...fills];
  for (let from = 0; from < list.length; from += AT_ONCE)
    await Promise.all(list.slice(from, from + AT_ONCE).map(check));
  // With the failure of its signature end all orders of a wallet.
  const unsigned = records.filter(({ failureReason }) => failureReason === 'SIGNATURE');
  const blamed = new Set(unsigned.map(({ failedWallet }) => failedWallet?.toLowerCase()));
  const inLots = (tokens: bigint): bigint => tokens / api.microAmount / LOT_MICRO;
  for (const { wallet, orders } of books) {
    for (const { orderHash, orderType, side, reason, createdAt, ...sizes } of orders) {
      const [filled, settled, failed] = [sizes.filledSize, sizes.settledSize, sizes.failedSize].map(
        (size) => microOf(size) / LOT_MICRO,
      ) as [bigint, bigint, bigint];
      const of = fills.get(orderHash);
      // A MARKET BUY may buy more for its budget than its size.
      const isExact = !(orderType === 'MARKET' && side === 'BUY');
      const should = [inLots(of?.settled ?? 0n), inLots(of?.failed ?? 0n)];
      const more = inLots(of?.returned ?? 0n);
      const isRight =
        settled === should[0] && failed >= (should[1] ?? 0n) && failed <= (should[1] ?? 0n) + more;
      if (filled !== settled + failed || (isExact && !isRight))
        wrong.push(
          `C5: the order ${orderHash} shows ${filled} lots filled, ${settled} settled and ${failed} failed, and its records ${should}`,
        );
      const isExcused = blamed.has(wallet.address.toLowerCase());
      if (reason === 'FUNDS' && !isExcused && !news.since(wallet.address, FUNDS_REASONS, createdAt))
        wrong.push(
          `C4: the order ${orderHash} was cancelled for want of funds, and ${wallet.address} has sent nothing away`,
        );
    }
  }
  return wrong;
}

/** Collateral is with the conditional tokens for complete sets alone; the exchange keeps what it owes, and nothing else. */
export async function checkSupplies({ chain: facts, markets }: Facts): Promise<string[]> {
  const { chain, contracts, happened } = facts;
  const wrong: string[] = [];
  const supply = new Map<string, bigint>();
  const kept = new Map<string, bigint>();
  const add = (to: Map<string, bigint>, key: string, amount: bigint): void =>
    void to.set(key, (to.get(key) ?? 0n) + amount);
  let sets = 0n;
  const redeemed = new Set<string>();
  for (const one of happened) {
    for (const { from, to, asset, amount } of transfersOf(one)) {
      if (from === NOBODY) add(supply, String(asset), amount);
      if (to === NOBODY) add(supply, String(asset), -amount);
      if (from === contracts.exchange) add(kept, String(asset), -amount);
      if (to === contracts.exchange) add(kept, String(asset), amount);
    }
    if (one.by !== 'tokens') continue;
    if (one.name === 'PositionSplit') sets += one.args.amount as bigint;
    if (one.name === 'PositionsMerge') sets -= one.args.amount as bigint;
    if (one.name !== 'PayoutRedemption') continue;
    sets -= one.args.payout as bigint;
    redeemed.add(String(one.args.conditionId));
  }
  for (const { conditionId, outcomes } of markets) {
    const [yes, no] = outcomes.map(({ tokenId }) => supply.get(tokenId) ?? 0n);
    if (yes !== no && !redeemed.has(conditionId))
      wrong.push(`C5: of ${conditionId} there are ${yes} Yes and ${no} No`);
  }
  const balance = async (of: string): Promise<bigint> =>
    (await chain.read(contracts.collateral, COLLATERAL_ABI, 'balanceOf', of)) as bigint;
  const locked = await balance(contracts.tokens);
  if (locked !== sets)
    wrong.push(`C5: the conditional tokens have ${locked} of collateral for ${sets} of complete sets`);
  return [...wrong, ...(await wrongDebts(facts, kept))];
}

/** The exchange contract has of each asset as much as it owes to wallets. */
async function wrongDebts(
  { chain, contracts, happened }: Facts['chain'],
  kept: ReadonlyMap<string, bigint>,
): Promise<string[]> {
  const debts = new Map<string, bigint>();
  const seen = new Set<string>();
  for (const { by, name, args } of happened) {
    if (by !== 'exchange' || name !== 'Held') continue;
    const key = `${args[0]}/${args[1]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const owed = (await chain.read(contracts.exchange, EXCHANGE_ABI, 'owed', args[0], args[1])) as bigint;
    debts.set(String(args[1]), (debts.get(String(args[1])) ?? 0n) + owed);
  }
  return [...new Set([...kept.keys(), ...debts.keys()])].flatMap((asset) => {
    const [has, owes] = [kept.get(asset) ?? 0n, debts.get(asset) ?? 0n];
    return has === owes
      ? []
      : [`C5: the exchange contract has ${has} of the asset ${asset}, and owes ${owes}`];
  });
}
