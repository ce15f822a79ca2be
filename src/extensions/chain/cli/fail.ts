import { checksumAddress } from '../../../auth/address';
import { matchId } from '../../../chain/exchange-contract';
import { recorded } from '../../../cli/action';
import { keyOf } from '../../../cli/settlements';
import { type CliStore, type Command, EXIT, type Run } from '../../../cli/store';
import type { FaultReason } from '../../../exchange/chain';
import { Refusal } from '../../../exchange/errors';
import type { SettlementRecord } from '../../../store/records/settlement';
import { signedOrdersOf } from '../../../store/records/signed-order';
import { createPreflight } from '../contracts/preflight';
import { type EncodedMatch, encodeMatch } from '../contracts/settle-call';
import { booksOf } from './chain';

/** Null when the match cannot be sent, because its settlement could not be built or an order of it is not stored. */
async function encodedOf(store: CliStore, record: SettlementRecord): Promise<EncodedMatch | null> {
  const { settlement, marketId, sequence, part } = record;
  const market = await store.reads.market(marketId);
  if (!settlement || !market) return null;
  const orders = await store.settlements.ordersOf([record]);
  const { takerOrder: taker, makerOrders: makers } = signedOrdersOf(
    record,
    orders,
    market.terms,
    checksumAddress,
  );
  if (!taker || makers.length !== settlement.makerHashes.length) return null;
  return encodeMatch({ name: { marketId, sequence, part }, settlement, taker, makers });
}

/** Why the chain will not settle it, as a majority of the nodes says. Throws when it did, or would. */
async function reasonOf(store: CliStore, record: SettlementRecord, id: string): Promise<FaultReason> {
  const { rpc, blocks, contracts } = booksOf(store);
  const { exchangeAddress: exchange, collateralAddress: collateral } = contracts;
  const preflight = createPreflight(rpc, { exchange, collateral });
  if (await preflight.wasSettled(matchId(record), (await blocks.final()).number))
    throw new Refusal('INVALID_REQUEST', `the chain has settled ${id}; see: exchange chain status`);
  const encoded = await encodedOf(store, record);
  if (encoded === null) return 'UNKNOWN';
  const failure = await preflight.agreedFailure(encoded, 'latest');
  if (failure) return failure.reason;
  throw new Refusal(
    'INVALID_REQUEST',
    `the contract can settle ${id} in the next block; let a lane send it, see: exchange chain lanes`,
  );
}

const REFUSALS = {
  LIVE: (id: string) =>
    `the settlement ${id} is in a transaction that may still run; wait until that is over, see: exchange chain lanes`,
  OVER: (id: string) => `the settlement ${id} is over already; see: exchange settlements export`,
  UNKNOWN: (id: string) => `the settlement ${id} has no match or no orders in the books; see: exchange audit`,
} as const;

/**
 * Ends a settlement that waits for a fault that never passes. Two nodes must agree that the contract would refuse it, and no
 * transaction may hold it. Its wallets get back what it took, and none is at fault.
 */
export const failSettlement =
  (id: string): Command =>
  async ({ store, say }: Run) => {
    const { ledger, blocks } = booksOf(store);
    const key = keyOf(id);
    const record = await store.settlements.find(key);
    if (!record)
      throw new Refusal('NOT_FOUND', `there is no settlement ${id}; see: exchange settlements export`);
    const doing = { action: 'chain fail', path: 'exchange chain fail', body: { id } };
    const reason = await recorded(store, doing, async () => {
      const why = await reasonOf(store, record, id);
      const { number } = await blocks.final();
      const code = await ledger.voidSettlement(key, { wallet: '', reason: why }, number);
      if (code !== 'OK') throw new Refusal('INVALID_REQUEST', REFUSALS[code](id));
      return why;
    });
    await say({ id, status: 'FAILED', reason }, [`${id} FAILED: ${reason}`]);
    return EXIT.done;
  };
