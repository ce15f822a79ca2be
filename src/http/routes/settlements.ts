import { SETTLEMENT_STATUSES } from '../../exchange/status';
import type { OrderRecord } from '../../store/records';
import { type SettlementRecord, settlementId } from '../../store/settlement-record';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { presentSettlement } from '../../wire/present-settlement';
import { choiceOf, cursorOf, limitOf, textOf } from '../../wire/queries';
import { ok, type Reply } from '../answer';
import { type Context, signedOf } from '../context';
import { type AnyEndpoint, type Call, read } from '../endpoint';

/** What became of the matches, for the operator. */
export function settlementEndpoints({ settlements, marketOf, termsOf }: Context): AnyEndpoint[] {
  async function list({ query }: Call<undefined>): Promise<Reply> {
    const page = { limit: limitOf(query, PAGE_SIZES.settlements), cursor: cursorOf(query) };
    const status = choiceOf(query, 'status', SETTLEMENT_STATUSES);
    const name = textOf(query, 'marketId');
    const marketId = name === undefined ? undefined : (await marketOf(name)).terms.id;
    const { records, orders, next } = await settlements.list({ status, marketId }, page);
    const data = await Promise.all(records.map((record) => body(record, orders)));
    return ok({ data, nextCursor: next });
  }

  async function body(record: SettlementRecord, orders: ReadonlyMap<string, OrderRecord>) {
    const terms = await termsOf(record.marketId);
    const signed = (hash: string) => {
      const order = orders.get(hash);
      return order ? signedOf(order, terms) : null;
    };
    const { settlement } = record;
    const takerOrder = settlement && signed(settlement.takerHash);
    const makerOrders = (settlement?.makerHashes ?? []).flatMap((hash) => signed(hash) ?? []);
    return presentSettlement({ ...record, id: settlementId(record), takerOrder, makerOrders }, terms);
  }

  return [read(PATHS.adminSettlements, list, 'admin')];
}
