import { TRADE } from './market';
import { ALICE_HASH, YES_TOKEN } from './story';

/** Alice's side of the trade. */
export const OWN_TRADE = {
  ...TRADE,
  role: 'TAKER',
  own: {
    orderHash: ALICE_HASH,
    clientOrderId: 'rain-1',
    role: 'TAKER',
    side: 'BUY',
    outcomeIndex: 0,
    tokenId: YES_TOKEN,
    price: '0.6',
    size: '40',
    fee: '0',
    feeAsset: 'YES',
  },
};
