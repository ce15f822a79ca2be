import { checksumAddress } from '../../auth/address';
import { SETTLEMENT_STATUSES } from '../../exchange/status';
import type { OrderRecord } from '../../store/records/order';
import { type SettlementRecord, settlementId } from '../../store/records/settlement';
import { signedOrdersOf } from '../../store/records/signed-order';
import { presentSettlement } from '../../wire/answers/settlement';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { choiceOf, cursorOf, limitOf } from '../../wire/queries';
import type { Context } from '../context';
import { type AnyEndpoint, type Call, ok, type Reply, read } from '../endpoint';

/** The settlements of the matches, for the operator. */
export function settlementEndpoints({ settlements, marketIdOf, termsOf, config }: Context): AnyEndpoint[] {
  async function list({ query }: Call<undefined>): Promise<Reply> {
    const page = { limit: limitOf(query, PAGE_SIZES.settlements), cursor: cursorOf(query) };
    const status = choiceOf(query, 'status', SETTLEMENT_STATUSES);
    const marketId = await marketIdOf(query);
    const { records, orders, next } = await settlements.list({ status, marketId }, page);
    const data = await Promise.all(records.map((record) => body(record, orders)));
    return ok({ data, nextCursor: next });
  }

  async function body(record: SettlementRecord, orders: ReadonlyMap<string, OrderRecord>) {
    const terms = await termsOf(record.marketId);
    const signed = signedOrdersOf(record, orders, terms, checksumAddress);
    return presentSettlement({ ...record, ...signed, id: settlementId(record) }, terms, config.funds);
  }

  return [read(PATHS.adminSettlements, list, 'admin')];
}
