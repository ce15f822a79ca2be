import { EXCHANGE, matchId } from '../../src/chain/exchange-contract';
import { createAudit } from '../../src/store/audit/audit';
import { type SettlementRecord, settlementId } from '../../src/store/records/settlement';
import { SCALE } from './operator';
import { checkFills, checkMoved, forEach } from './storm-moved';
import type { Guilty } from './storm-trouble';
import type { StormWorld } from './storm-world';
import { COLLATERAL, collateralAbi, ctfAbi, type Trader } from './world';

/** The end of a storm, checked with the chain, the records and the books alone. */
const PAGE = 200;
const SHOWN_MAX = 20;
const MICRO_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export interface People {
  readonly innocent: readonly Trader[];
  readonly guilty: readonly Guilty[];
}

const lower = ({ address }: Trader): string => address.toLowerCase();

export async function checkAll(storm: StormWorld, people: People): Promise<string> {
  const records = await allRecords(storm);
  const confirmed = records.filter(({ settlementStatus }) => settlementStatus === 'CONFIRMED');
  const failed = records.filter(({ settlementStatus }) => settlementStatus === 'FAILED');
  expectSame(records.map(settlementId), [...storm.made.keys()]);
  expect(confirmed.length + failed.length).toBe(records.length);
  await checkSettledOnce(storm, confirmed);
  await checkGuilt(storm, people, failed);
  const traders = [...people.innocent, ...people.guilty];
  await checkMoved(storm, confirmed, traders.map(lower));
  await checkFills(storm, confirmed, failed);
  await forEach(traders, (trader) => checkAccount(storm, trader));
  await checkSupply(storm, traders);
  await checkLanes(storm);
  const { differences } = await createAudit({ ...storm, scale: SCALE, settlementGraceMs: 0 })();
  expect(differences).toEqual([]);
  const reasons = new Map<string, number>();
  for (const { failureReason = '' } of failed)
    reasons.set(failureReason, (reasons.get(failureReason) ?? 0) + 1);
  const transactions = new Set(confirmed.map(({ transactionHash }) => transactionHash)).size;
  return `${confirmed.length} confirmed in ${transactions} transactions, failed ${JSON.stringify([...reasons])}`;
}

/** In any order, each as often. Only the differences are shown: the lists are long. */
function expectSame(found: readonly string[], expected: readonly string[]): void {
  const count = new Map<string, number>();
  for (const one of found) count.set(one, (count.get(one) ?? 0) + 1);
  for (const one of expected) count.set(one, (count.get(one) ?? 0) - 1);
  expect([...count].filter(([, left]) => left !== 0).slice(0, SHOWN_MAX)).toEqual([]);
}

async function allRecords({ settlements }: StormWorld): Promise<SettlementRecord[]> {
  const found: SettlementRecord[] = [];
  let cursor: string | null = null;
  do {
    const page = await settlements.list({}, { limit: PAGE, cursor });
    found.push(...page.records);
    cursor = page.next;
  } while (cursor !== null);
  return found;
}

/** One event for each CONFIRMED record and no other, in a transaction that the record names. */
async function checkSettledOnce(
  { world }: StormWorld,
  confirmed: readonly SettlementRecord[],
): Promise<void> {
  const topics = [EXCHANGE.getEvent('MatchSettled')?.topicHash];
  const logs = await world.chain.ask<{ topics: string[]; transactionHash: string }[]>('eth_getLogs', {
    ...{ fromBlock: '0x0', address: world.exchange, topics },
  });
  const events = logs.map((log) => `${BigInt(log.topics[1] ?? 0)} ${log.transactionHash}`);
  const told = confirmed.map((record) => `${matchId(record)} ${record.transactionHash}`);
  expectSame(events, told);
}

/** Each failure names a wallet that had done what it says by then, and only such wallets have lost orders or were struck. */
async function checkGuilt(
  { settlements, orders, ledger, world }: StormWorld,
  { innocent, guilty }: People,
  failed: readonly SettlementRecord[],
): Promise<void> {
  const byWallet = new Map(guilty.map((one) => [lower(one), one]));
  for (const record of failed) {
    const { failedWallet = '', failureReason = 'UNKNOWN', updatedAtMs } = record;
    const since = byWallet.get(failedWallet)?.deeds.get(failureReason) ?? Number.POSITIVE_INFINITY;
    const isGuilty = since <= updatedAtMs;
    expect([settlementId(record), failedWallet, failureReason, isGuilty]).toEqual([
      ...[settlementId(record), failedWallet, failureReason, true],
    ]);
    expect(await world.read('isSettled', matchId(record))).toBe(false);
  }
  const good = new Set([...innocent, ...guilty.filter(({ deeds }) => deeds.size === 0)].map(lower));
  const own = [...orders.values()].filter(({ maker }) => good.has(maker)).map(({ hash }) => hash);
  const stored = await settlements.orders(own);
  expect([...stored.values()].filter(({ reason }) => reason === 'FUNDS' || reason === 'NONCE')).toEqual([]);
  for (const wallet of good) expect((await ledger.chainAccount(wallet))?.suspendedUntilMs ?? null).toBeNull();
}

/** Down to the micro-unit, and no more than the books can count. */
const inMicro = (amount: bigint): number => {
  const whole = amount / SCALE.microAmount;
  return Number(whole < MICRO_MAX ? whole : MICRO_MAX);
};

/** The account is the chain's, with nothing reserved, out or pending; what the wallet lets the exchange take is free. */
async function checkAccount({ world, terms, ledger, see }: StormWorld, trader: Trader): Promise<void> {
  await see(trader.address, ...terms.map(({ id }) => id));
  const account = await ledger.chainAccount(lower(trader));
  if (!account) throw new Error(`${trader.address} has no account`);
  const { chain, collateral, exchange, ctf } = world;
  const allowance = (await chain.read(
    collateral,
    collateralAbi,
    'allowance',
    trader.address,
    exchange,
  )) as bigint;
  const isApproved = (await chain.read(ctf, ctfAbi, 'isApprovedForAll', trader.address, exchange)) as boolean;
  const cash = inMicro(await world.balance(trader.address, COLLATERAL));
  expect([trader.address, account.approvedForAll]).toEqual([trader.address, isApproved]);
  const expected = [[cash, Math.min(cash, inMicro(allowance))]];
  const found = [account.collateral];
  for (const { id, tokenIds } of terms) {
    const assets = account.tokens.find(({ marketId }) => marketId === id)?.assets ?? [];
    for (const [n, tokenId] of tokenIds.entries()) {
      const balance = inMicro(await world.balance(trader.address, BigInt(tokenId)));
      expected.push([balance, isApproved ? balance : 0]);
      const asset = assets[n];
      if (!asset) throw new Error(`${trader.address} has no account of ${id}`);
      found.push(asset);
    }
  }
  const shown = found.map((one) => [
    ...[one.balanceMicro, one.heldMicro, one.reservedMicro, one.outMicro, one.pendingMicro, one.freeMicro],
  ]);
  expect([trader.address, shown]).toEqual([
    trader.address,
    expected.map(([balance, held]) => [balance, held, 0, 0, 0, held]),
  ]);
}

/** Nothing was made or lost: all collateral is with wallets, the fee receiver, the exchange or in full sets. */
async function checkSupply({ world, terms }: StormWorld, traders: readonly Trader[]): Promise<void> {
  const { chain, collateral, ctf, exchange, fees } = world;
  const holders = [...traders.map(({ address }) => address), fees.address, exchange];
  const sumOf = async (asset: bigint, more: readonly string[] = []): Promise<bigint> => {
    let sum = 0n;
    for (const holder of [...holders, ...more]) sum += await world.balance(holder, asset);
    return sum;
  };
  expect(await sumOf(COLLATERAL, [ctf])).toBe(await chain.read(collateral, collateralAbi, 'totalSupply'));
  let sets = 0n;
  for (const { tokenIds } of terms) {
    const [yes, no] = await Promise.all(tokenIds.map((one) => sumOf(BigInt(one))));
    expect(yes).toBe(no);
    sets += yes ?? 0n;
  }
  expect(await world.balance(ctf, COLLATERAL)).toBe(sets);
}

/** No transaction is open, and the chain has used no nonce of a lane but those that were noted. */
async function checkLanes({ intents, lanes, world }: StormWorld): Promise<void> {
  expect(await intents.list()).toEqual([]);
  const stored = await intents.lanes();
  for (const lane of lanes) {
    const used = Number(await world.chain.ask('eth_getTransactionCount', lane.address, 'latest'));
    const found = stored.find(({ address }) => address === lower(lane));
    expect([lane.address, found?.nextNonce ?? 0, found?.state ?? 'RUNNING']).toEqual([
      lane.address,
      used,
      'RUNNING',
    ]);
  }
}
