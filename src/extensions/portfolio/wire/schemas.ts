import {
  array,
  choice,
  described,
  integer,
  type Json,
  nullable,
  object,
  page,
  ref,
  text,
} from '../../../wire/documents/openapi/schema';
import { TRADE_MEMBERS } from '../../../wire/documents/openapi/schemas/books';
import { IN_CHAIN_SETTLEMENT } from '../../../wire/documents/openapi/schemas/chain';
import { OWN_TRADE_MEMBERS, ROLE } from '../../../wire/documents/openapi/schemas/traders';
import { HOLDERS_MAX, LEADERS_PAGE } from './paths';

const CHANGE = text('The change of the balance; it is negative when the wallet paid.', {
  pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]{0,5}[1-9])?$',
});

/** A wallet of a market, as others see it. */
const PUBLIC_WALLET = {
  address: nullable(described(ref('Address'), 'The address is null for a wallet that hides itself.')),
  username: nullable(text()),
};

/** A wallet's own books, and the wallets of a market. */
export const PORTFOLIO_SCHEMAS: Readonly<Record<string, Json>> = {
  SignedMoney: CHANGE,
  Position: object({
    marketId: ref('MarketId'),
    conditionId: ref('Hash'),
    outcomeIndex: ref('OutcomeIndex'),
    tokenId: ref('TokenId'),
    size: described(ref('Money'), 'The number of tokens; it is 0 when the position is closed.'),
    averagePrice: nullable(text('The average cost of a token, fees included; it is null without tokens.')),
    currentValue: nullable(
      described(
        ref('Money'),
        "The value at the outcome's `price` or payout; it is null while the outcome has no price.",
      ),
    ),
    realizedPnl: described(
      ref('SignedMoney'),
      'The profit or loss of all tokens that were sold, merged or paid out.',
    ),
    unrealizedPnl: nullable(described(ref('SignedMoney'), '`currentValue` minus the cost of the tokens.')),
  }),
  PositionPage: page(ref('Position')),
  Portfolio: object({
    value: described(ref('SignedMoney'), 'The sum of `cash`, `reserved` and `positionsValue`.'),
    cash: described(ref('Money'), 'The collateral that is free.'),
    reserved: described(ref('Money'), 'The collateral of open orders.'),
    positionsValue: described(
      ref('Money'),
      "The tokens at their outcome's `price`, or payout; at 0.5 while a market has no price.",
    ),
    pnl: object({
      total: described(ref('SignedMoney'), 'The realized and unrealized profit of all positions.'),
      today: described(ref('SignedMoney'), 'The change of the value since 00:00 UTC, without faucet grants.'),
    }),
    history: array(object({ t: integer('The moment in seconds since 1970.'), value: ref('SignedMoney') }), {
      description: 'The values over time, oldest first; the last one is now.',
    }),
  }),
  OwnTrade: object(OWN_TRADE_MEMBERS, IN_CHAIN_SETTLEMENT),
  OwnTradePage: page(ref('OwnTrade')),
  Activity: object({
    id: text('The id is unique in the list of one wallet.'),
    type: choice(
      ['TRADE', 'SPLIT', 'MERGE', 'FAUCET', 'REDEEM', 'REVERSAL', 'GRANT'],
      '`GRANT` is the collateral that a wallet gets when it is first seen, `REDEEM` the payout of a market that has ended, `REVERSAL` the end of a trade that failed on the chain.',
    ),
    occurredAt: ref('Time'),
    marketId: nullable(ref('MarketId')),
    conditionId: nullable(ref('Hash')),
    side: nullable(described(ref('Side'), "The wallet's side; it is null where there was no trade.")),
    outcomeIndex: nullable(ref('OutcomeIndex')),
    role: nullable(ROLE),
    price: nullable(described(ref('Price'), "The price in the wallet's own token.")),
    size: nullable(described(ref('Money'), 'The number of shares that were traded, or of sets.')),
    fee: nullable(ref('Money')),
    feeAsset: nullable(ref('FeeAsset')),
    tradeId: nullable(ref('TradeId')),
    orderHash: nullable(ref('Hash')),
    yesPrice: nullable(
      described(
        ref('Midpoint'),
        'The price of Yes at which a split or a merge divides its collateral between the two outcomes; it is null for other lines, and without a price, where each has half.',
      ),
    ),
    changes: object({ collateral: ref('SignedMoney'), yes: ref('SignedMoney'), no: ref('SignedMoney') }),
  }),
  ActivityPage: page(ref('Activity')),
  Holders: object({
    marketId: ref('MarketId'),
    outcomeIndex: ref('OutcomeIndex'),
    count: integer(
      'The number of all wallets that hold tokens of the outcome, also of those that are not listed.',
    ),
    data: array(object({ ...PUBLIC_WALLET, size: described(ref('Money'), 'The number of tokens.') }), {
      maxItems: HOLDERS_MAX,
    }),
  }),
  MarketTrade: object(
    { ...TRADE_MEMBERS, taker: object(PUBLIC_WALLET), maker: object(PUBLIC_WALLET) },
    IN_CHAIN_SETTLEMENT,
  ),
  MarketTradePage: page(ref('MarketTrade')),
  Leaderboard: object({
    startsAt: described(ref('Time'), 'The start of the week: Monday, 00:00 UTC.'),
    endsAt: described(ref('Time'), 'The start of the next one.'),
    asOf: nullable(
      described(
        ref('Time'),
        'The figures contain everything before; it is null while the week has no ranking.',
      ),
    ),
    data: array(
      object({
        rank: integer('The place, counted from 1.'),
        address: ref('Address'),
        username: nullable(text()),
        pnl: described(
          ref('SignedMoney'),
          'The change of the value since `startsAt`, without faucet grants.',
        ),
        volume: described(
          ref('Money'),
          'The collateral that the trades of the wallet moved since `startsAt`.',
        ),
      }),
      { maxItems: LEADERS_PAGE.most, description: 'The wallets, largest gain first.' },
    ),
  }),
};
