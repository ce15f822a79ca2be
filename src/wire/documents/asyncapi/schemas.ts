import { ERRORS, type ErrorCode } from '../../../exchange/errors';
import { EVENTS } from '../../answers/events';
import { array, choice, constant, integer, type Json, nullable, object, ref, text } from '../openapi/schema';
import { BALANCES_MEMBERS, ON_CHAIN_BALANCES } from '../openapi/schemas/accounts';
import { IN_CHAIN_SETTLEMENT } from '../openapi/schemas/chain';
import { IN_SOME_ORDERS, ORDER_MEMBERS } from '../openapi/schemas/orders';
import { problemSchemaName } from '../openapi/schemas/problems';
import { OWN_TRADE_MEMBERS } from '../openapi/schemas/traders';

/** [price, size]; AsyncAPI's schemas have no tuples. */
const changed = array(
  array(ref('PriceOrSize'), {
    minItems: 2,
    maxItems: 2,
    description: 'A price and its new size, as [price, size].',
  }),
);

const CODES = Object.keys(ERRORS) as ErrorCode[];
const numbers = { accountSequence: ref('AccountSequence'), previousAccountSequence: ref('AccountSequence') };

/** Schemas that only sockets use, or that AsyncAPI writes in another way. */
export const SOCKET_SCHEMAS: Readonly<Record<string, Json>> = {
  Problem: { oneOf: CODES.map((code) => ref(problemSchemaName(code))) },
  PriceOrSize: text('A price, then a size.', { pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{0,3}[1-9])?$' }),
  Refused: object({ code: choice(CODES), detail: text() }),
  BookUpdate: object({
    type: constant(EVENTS.update),
    marketId: ref('MarketId'),
    conditionId: ref('Hash'),
    sequence: ref('Sequence'),
    previousSequence: ref('Sequence'),
    timestamp: ref('EpochMs'),
    reason: choice(['ORDER', 'TRADE', 'CANCEL', 'EXPIRE', 'MARKET']),
    changes: object({ bids: changed, asks: changed }),
    bestBid: nullable(ref('Price')),
    bestAsk: nullable(ref('Price')),
    checksum: ref('Checksum'),
  }),
  AccountSequence: integer('The number of an event in the log of its wallet.'),
  OwnOrder: object({ ...ORDER_MEMBERS, ...numbers }, IN_SOME_ORDERS),
  OwnTrade: object({ ...OWN_TRADE_MEMBERS, ...numbers }, IN_CHAIN_SETTLEMENT),
  OwnBalance: object({ ...BALANCES_MEMBERS, ...numbers }, ON_CHAIN_BALANCES),
  Heartbeat: object({ conditionId: ref('Hash'), sequence: ref('Sequence'), timestamp: ref('EpochMs') }),
};
