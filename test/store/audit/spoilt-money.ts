import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { addressBytes } from '../../../src/store/records/order';
import { settlementName } from '../../../src/store/records/settlement';
import { type Corruption, changed, type Stage } from './auditing';

/** Corruptions of balances, trades and settlements. */
export const spoiltMoney = (stage: Stage): readonly Corruption[] => [
  [
    'collateral reserved for nothing',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const wallet = wallets[1] ?? '';
      const packed = await redis.hgetBuffer(keys.cash, addressBytes(wallet));
      await redis.hset(keys.cash, addressBytes(wallet), changed(changed(packed, 13, 1), 6, -1));
      return { kind: 'RESERVED_COLLATERAL', wallet };
    },
    () => [stage.exchange.keys.cash],
  ],
  [
    'a balance below zero',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const wallet = wallets[2] ?? '';
      const packed = await redis.hgetBuffer(keys.cash, addressBytes(wallet));
      const negative = Buffer.concat([Buffer.alloc(7, 0xff), (packed ?? Buffer.alloc(24)).subarray(7)]);
      await redis.hset(keys.cash, addressBytes(wallet), negative);
      return [{ kind: 'BALANCE_OUT_OF_RANGE', wallet, asset: 'COLLATERAL' }, { kind: 'COLLATERAL_TOTAL' }];
    },
    () => [stage.exchange.keys.cash],
  ],
  [
    'tokens reserved for an order that is gone',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const [wallet = ''] = wallets;
      const packed = await redis.hgetBuffer(keys.tokens(stage.market.terms.id), addressBytes(wallet));
      await redis.hset(
        keys.tokens(stage.market.terms.id),
        addressBytes(wallet),
        changed(changed(packed, 12, 1), 5, -1),
      );
      return { kind: 'RESERVED_TOKENS', wallet, marketId: stage.market.terms.id, asset: 'YES' };
    },
    () => [stage.exchange.keys.tokens(stage.market.terms.id)],
  ],
  [
    'a position that the wallet does not hold',
    async () => {
      const { redis, run, keys, matches, wallets } = stage.exchange;
      // First booked up to now, then as after trades that left the outbox unbooked.
      await createJournal({ redis, run, keys, matches, doubts: () => 0 }).catchUp();
      const [wallet = ''] = wallets;
      const marketId = stage.market.terms.id;
      const packed = await redis.hgetBuffer(keys.positions(addressBytes(wallet)), marketId);
      await redis.hset(keys.positions(addressBytes(wallet)), marketId, changed(packed, 7, 1));
      return { kind: 'POSITION', wallet, marketId, asset: 'YES' };
    },
    () => [
      stage.exchange.keys.readers,
      stage.exchange.keys.sums,
      ...[...stage.exchange.known.keys()].flatMap((id) => [
        stage.exchange.keys.holders(id, 0),
        stage.exchange.keys.holders(id, 1),
      ]),
      ...stage.exchange.wallets.flatMap((wallet) => [
        stage.exchange.keys.positions(addressBytes(wallet)),
        stage.exchange.keys.journal(addressBytes(wallet)),
      ]),
    ],
  ],
  [
    'tokens out of nowhere',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const [wallet = ''] = wallets;
      const packed = await redis.hgetBuffer(keys.tokens(stage.market.terms.id), addressBytes(wallet));
      await redis.hset(keys.tokens(stage.market.terms.id), addressBytes(wallet), changed(packed, 18, 1));
      return { kind: 'SUPPLY', marketId: stage.market.terms.id, asset: 'NO' };
    },
    () => [stage.exchange.keys.tokens(stage.market.terms.id)],
  ],
  [
    'collateral that was never handed out',
    async () => {
      await stage.exchange.redis.hincrby(stage.exchange.keys.sums, 'granted', -1);
      return { kind: 'COLLATERAL_TOTAL' };
    },
    () => [stage.exchange.keys.sums],
  ],
  [
    'a trade that was taken away',
    async () => {
      const { redis, keys } = stage.exchange;
      const [entry] = await redis.xrange(keys.trades(stage.market.terms.id), '-', '+');
      await redis.xdel(keys.trades(stage.market.terms.id), entry?.[0] ?? '');
      return [
        { kind: 'FILLS', marketId: stage.market.terms.id },
        { kind: 'VOLUME', marketId: stage.market.terms.id },
      ];
    },
    () => [stage.exchange.keys.trades(stage.market.terms.id)],
  ],
  [
    'a settlement record that is gone',
    async () => {
      const { redis, keys } = stage.exchange;
      const [entry] = await redis.xrange(keys.trades(stage.market.terms.id), '-', '+');
      const [tradeMs, sequence = 0] = (entry?.[0] ?? '').split('-').map(Number);
      await redis.hdel(
        keys.settlements,
        settlementName({ marketId: stage.market.terms.id, sequence, part: 0 }),
      );
      // Old enough that the reconciler has seen it.
      await redis.hset(keys.settledUpTo, stage.market.terms.id, `${tradeMs}-${sequence}`);
      return {
        kind: 'SETTLEMENT_MISSING',
        marketId: stage.market.terms.id,
        sequence,
        settlementId: `${stage.market.terms.id}-${sequence}-s0`,
      };
    },
    () => [stage.exchange.keys.settlements, stage.exchange.keys.settledUpTo],
  ],
  [
    'a settlement record of other amounts',
    async () => {
      const { redis, keys } = stage.exchange;
      const [name = Buffer.alloc(0)] = await redis.hkeysBuffer(keys.settlements);
      const packed = (await redis.hgetBuffer(keys.settlements, name)) ?? Buffer.alloc(0);
      await redis.hset(keys.settlements, name, changed(packed, packed.length - 3, 1));
      return { kind: 'SETTLEMENT_RECORD' };
    },
    () => [stage.exchange.keys.settlements],
  ],
  [
    'fees that were taken away',
    async () => {
      const { redis, keys } = stage.exchange;
      const packed = await redis.hgetBuffer(keys.cash, 'fee');
      await redis.hset(
        keys.cash,
        'fee',
        Buffer.concat([Buffer.alloc(14), (packed ?? Buffer.alloc(24)).subarray(14)]),
      );
      return [{ kind: 'FEES', asset: 'COLLATERAL', found: '0' }, { kind: 'COLLATERAL_TOTAL' }];
    },
    () => [stage.exchange.keys.cash],
  ],
  [
    'a holder whose list does not name the market',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const [wallet = ''] = wallets;
      await redis.srem(keys.holdings(addressBytes(wallet)), stage.market.terms.id);
      return { kind: 'HOLDINGS', wallet, marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.holdings(addressBytes(stage.exchange.wallets[0] ?? ''))],
  ],
  [
    'a last price that nobody paid',
    async () => {
      const { redis, keys } = stage.exchange;
      const state = await redis.hgetBuffer(keys.market(stage.market.terms.id), 's');
      await redis.hset(keys.market(stage.market.terms.id), 's', changed(state, 36, 1));
      return { kind: 'LAST_TRADE', marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.market(stage.market.terms.id)],
  ],
  [
    'a holder who was paid too little',
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const wallet = wallets[1] ?? '';
      const key = keys.paid(stage.voided.terms.id);
      await redis.hset(
        key,
        addressBytes(wallet),
        changed(await redis.hgetBuffer(key, addressBytes(wallet)), 20, -1),
      );
      return { kind: 'PAYOUT', wallet, marketId: stage.voided.terms.id };
    },
    () => [stage.exchange.keys.paid(stage.voided.terms.id)],
  ],
  [
    'a settlement that no list names, and one that waits for nothing',
    async () => {
      const { redis, keys } = stage.exchange;
      const [entry] = await redis.xrange(keys.settlementListOf(stage.market.terms.id), '-', '+');
      await redis.xdel(keys.settlementListOf(stage.market.terms.id), entry?.[0] ?? '');
      const [listed] = await redis.xrangeBuffer(keys.settlementList, '-', '+');
      const [ms = 0, index = 0] = (listed?.[0].toString() ?? '').split('-').map(Number);
      const place = Buffer.alloc(10);
      place.writeUIntBE(ms, 0, 6);
      place.writeUInt32BE(index, 6);
      await redis.zadd(keys.unsettled, 0, Buffer.concat([place, listed?.[1][1] ?? Buffer.alloc(0)]));
      return [{ kind: 'SETTLEMENT_LIST', marketId: stage.market.terms.id }];
    },
    () => [stage.exchange.keys.settlementListOf(stage.market.terms.id), stage.exchange.keys.unsettled],
  ],
];
