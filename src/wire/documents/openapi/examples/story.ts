/**
 * The examples are one story: Bob buys 40 No at 0.40, Alice buys 100 Yes at 0.62, a set of 40 is minted at 0.60 and the
 * rest of her order stays in the book. The ids, hashes and signatures are real: a test computes them again from the two
 * published keys of docs/use/signing.md.
 */
export const ALICE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const BOB = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ZERO = '0x0000000000000000000000000000000000000000';

export const EXCHANGE = '0x88bB4DF483b67E0c665E0b7cAEE8d6456A816EDD';
export const COLLATERAL = '0x7D832153CCA8836D41e77E83c71f82eb05eD6Dbd';
export const CONDITIONAL_TOKENS = '0xec6894612b2CEE4B6bBb7D0f6E1a5865e2e7Aa02';

export const MARKET_ID = '81cqi70o';
export const QUESTION = 'Will it rain in Lisbon on 1 March 2027?';
export const QUESTION_ID = '0x0b55a76aad4820539879c9e1220e02de39e75ca78b41f5f3bdcd2fba3992c3f1';
export const CONDITION_ID = '0x92a6980e08e927a5b69d1875448c2eb5cd28bff9475aa8307c5d0c8bca2703f4';
export const YES_TOKEN = '43576943191478780539508125537966576066356974144561110819876307273356569377633';
export const NO_TOKEN = '90172165221744529835501812422117754063326064671579173584393580958329936855559';

export const ALICE_ORDER = {
  salt: '479249096354',
  maker: ALICE,
  signer: ALICE,
  taker: ZERO,
  tokenId: YES_TOKEN,
  makerAmount: '62000000000000000000',
  takerAmount: '100000000000000000000',
  expiration: '0',
  nonce: '0',
  feeRateBps: '0',
  side: 0,
  signatureType: 0,
  signature:
    '0x20ed67e8669e82af8fd315a4b82e27cf317258ae43ffe9fa2fc60ad17afa70df17d77f31cc4e2980477f44bfe256e901aa261573fd14782a5f25f808f86aeca41b',
} as const;
export const ALICE_HASH = '0x2b9bdc3dee7a369a8142fc79c4a25ad7452f0d7f45b885f4b16f4d1c10efd2d6';

/** Alice's replacement after 40 were filled: the remaining 60, at 0.61. */
export const ALICE_NEXT_ORDER = {
  ...ALICE_ORDER,
  salt: '479249096355',
  makerAmount: '36600000000000000000',
  takerAmount: '60000000000000000000',
  signature:
    '0xecf66f760d4f75d3f279bc3170ef5ea4aa99e1165c6a72fedf5c8f3c1251fa9c316284660df819931efa71b993b6c5ac7311f816298b5aa2b97d59b314c251b41b',
} as const;
export const ALICE_NEXT_HASH = '0x492e491847c39cb5d06ec6d1f5842dd8b519dffe27cd04a7c942656629410648';

export const BOB_ORDER = {
  salt: '840329157261',
  maker: BOB,
  signer: BOB,
  taker: ZERO,
  tokenId: NO_TOKEN,
  makerAmount: '16000000000000000000',
  takerAmount: '40000000000000000000',
  expiration: '0',
  nonce: '0',
  feeRateBps: '0',
  side: 0,
  signatureType: 0,
  signature:
    '0x3a1ddc3b001f8ce94ce7e952d774eef523e4c62683098c74f3d62cd044009c1f142f756e5ed2497adab3acebd9159ef2606178a192c03cc833afb73feeb6c37e1c',
} as const;
export const BOB_HASH = '0xf677be163221183a26a4dc73215ba6d538fa9241d6c4460bbb0080ff65e7b636';

/** The state of the exchange while it is migrated. */
export const MODE = { mode: 'CANCEL_ONLY', message: 'We move to a larger machine; back at 12:30 UTC.' };

export const SEQUENCE = 1842;
export const TRADE_ID = `${MARKET_ID}-${SEQUENCE}-0`;
export const LISTED_AT = '2027-02-01T09:00:00.000Z';
export const SIGNED_IN_AT = '2027-02-01T12:00:00.000Z';
export const MATCHED_AT = '2027-02-01T12:00:05.223Z';
export const MOVED_AT = '2027-02-01T12:00:09.871Z';
export const MATCHED_MS = Date.parse(MATCHED_AT);
export const CLOSES_AT = '2027-03-01T00:00:00.000Z';
