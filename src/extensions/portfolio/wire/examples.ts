import { TRADE } from '../../../wire/documents/openapi/examples/market';
import {
  ALICE,
  ALICE_HASH,
  BOB,
  CONDITION_ID,
  MARKET_ID,
  MATCHED_AT,
  TRADE_ID,
  YES_TOKEN,
} from '../../../wire/documents/openapi/examples/story';

/** Alice holds the 40 Yes she bought at 0.60; the market is at 0.62. */
export const POSITION = {
  marketId: MARKET_ID,
  conditionId: CONDITION_ID,
  outcomeIndex: 0,
  tokenId: YES_TOKEN,
  size: '40',
  averagePrice: '0.6',
  currentValue: '24.8',
  realizedPnl: '0',
  unrealizedPnl: '0.8',
};

/** The same, with 100 paid in and an open order over 12. */
export const PORTFOLIO = {
  value: '100.8',
  cash: '64',
  reserved: '12',
  positionsValue: '24.8',
  pnl: { total: '0.8', today: '0.8' },
  history: [
    { t: 1_788_950_399, value: '100' },
    { t: 1_788_953_990, value: '100.8' },
  ],
};

export const ACTIVITY = {
  id: '0-0',
  type: 'TRADE',
  occurredAt: MATCHED_AT,
  marketId: MARKET_ID,
  conditionId: CONDITION_ID,
  side: 'BUY',
  outcomeIndex: 0,
  role: 'TAKER',
  price: '0.6',
  size: '40',
  fee: '0',
  feeAsset: 'YES',
  tradeId: TRADE_ID,
  orderHash: ALICE_HASH,
  yesPrice: null,
  changes: { collateral: '-24', yes: '40', no: '0' },
};

export const HOLDERS = {
  marketId: MARKET_ID,
  outcomeIndex: 0,
  count: 2,
  data: [
    { address: ALICE, username: 'alice', size: '40' },
    { address: null, username: null, size: '2.5' },
  ],
};

/** The example's trade, whose maker has no username. */
export const MARKET_TRADE = {
  ...TRADE,
  taker: { address: ALICE, username: 'alice' },
  maker: { address: BOB, username: null },
};

/** Alice, in the week of the example's trade. */
export const LEADERBOARD = {
  startsAt: '2027-02-01T00:00:00.000Z',
  endsAt: '2027-02-08T00:00:00.000Z',
  asOf: MATCHED_AT,
  data: [{ rank: 1, address: ALICE, username: 'alice', pnl: '0.8', volume: '24' }],
};
