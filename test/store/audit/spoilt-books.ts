import { decodeEvent } from '../../../src/store/outbox/outbox';
import { addressBytes } from '../../../src/store/records/order';
import { type Corruption, changed, findOrder, type Stage } from './auditing';

/** Corruptions of orders, books, indexes and names. */
export const spoiltBooks = (stage: Stage): readonly Corruption[] => [
  [
    'a level that says more than its orders',
    async () => {
      const { redis, keys } = stage.exchange;
      const packed = await redis.hgetBuffer(keys.market(stage.market.terms.id), 'b4000');
      await redis.hset(keys.market(stage.market.terms.id), 'b4000', changed(packed, 6, 1));
      return { kind: 'LEVEL', marketId: stage.market.terms.id, side: 'BID', price: '0.4' };
    },
    () => [stage.exchange.keys.market(stage.market.terms.id)],
  ],
  [
    'an order that fell out of its book',
    async () => {
      const { redis, keys } = stage.exchange;
      const { member, orderHash } = await findOrder(stage, 'asks');
      await redis.zrem(keys.asks(stage.market.terms.id), member);
      return { kind: 'BOOK_ENTRY', marketId: stage.market.terms.id, orderHash, found: 'none' };
    },
    () => [stage.exchange.keys.asks(stage.market.terms.id)],
  ],
  [
    'a book that names what is no order',
    async () => {
      await stage.exchange.redis.zadd(
        stage.exchange.keys.bids(stage.market.terms.id),
        -3000,
        Buffer.alloc(38, 7),
      );
      return {
        kind: 'BOOK_ENTRY',
        marketId: stage.market.terms.id,
        orderHash: `0x${'07'.repeat(32)}`,
        expected: 'none',
      };
    },
    () => [stage.exchange.keys.bids(stage.market.terms.id)],
  ],
  [
    'a status that was set by hand',
    async () => {
      const { redis, keys } = stage.exchange;
      const { hash, orderHash } = await findOrder(stage, 'bids');
      const packed = (await redis.hgetBuffer(keys.orders, hash)) ?? Buffer.alloc(0);
      // CANCELLED, reason USER and nothing filled (lua/lib/order.lua).
      const body = packed.at(-1) === 0 ? packed : packed.subarray(0, -37);
      await redis.hset(
        keys.orders,
        hash,
        Buffer.concat([body, Buffer.from([1]), Buffer.alloc(35), Buffer.from([3])]),
      );
      return [
        { kind: 'WALLET_INDEX', orderHash },
        { kind: 'BOOK_ENTRY', orderHash, expected: 'none' },
        { kind: 'LIQUIDITY', marketId: stage.market.terms.id },
      ];
    },
    () => [stage.exchange.keys.orders],
  ],
  [
    "an order that its wallet's list has as ended",
    async () => {
      const { redis, keys, wallets } = stage.exchange;
      const wallet = wallets[1] ?? '';
      const [member = Buffer.alloc(0)] = await redis.zrevrangeBuffer(keys.wallet(addressBytes(wallet)), 0, 0);
      const score = await redis.zscore(keys.wallet(addressBytes(wallet)), member);
      await redis.zadd(keys.wallet(addressBytes(wallet)), `-${score}`, member);
      return { kind: 'WALLET_INDEX', wallet, orderHash: `0x${member.toString('hex')}` };
    },
    () => [stage.exchange.keys.wallet(addressBytes(stage.exchange.wallets[1] ?? ''))],
  ],
  [
    'an expiry that was forgotten',
    async () => {
      const { redis, keys } = stage.exchange;
      const [hash = Buffer.alloc(0)] = await redis.zrangeBuffer(keys.expiries, 0, '0');
      await redis.zrem(keys.expiries, hash);
      return { kind: 'EXPIRY_INDEX', orderHash: `0x${hash.toString('hex')}`, found: 'none' };
    },
    () => [stage.exchange.keys.expiries],
  ],
  [
    'a number that went back',
    async () => {
      const { redis, keys } = stage.exchange;
      const state = await redis.hgetBuffer(keys.market(stage.market.terms.id), 's');
      await redis.hset(keys.market(stage.market.terms.id), 's', changed(state, 7, -3));
      return { kind: 'SEQUENCE', marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.market(stage.market.terms.id)],
  ],
  [
    'an entry of the outbox that is gone',
    async () => {
      const { redis, keys } = stage.exchange;
      const entries = await redis.xrangeBuffer(keys.outbox, '-', '+');
      const orders = entries.filter(([, fields]) => decodeEvent(fields[1] as Buffer).kind === 'ORDER');
      await redis.xdel(keys.outbox, orders[0]?.[0] ?? '');
      return { kind: 'SEQUENCE', marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.outbox],
  ],
  [
    'a Redis that lost everything',
    async () => {
      await stage.exchange.redis.hset(stage.exchange.keys.epoch, 'lost', String(Date.UTC(2026, 10, 28)));
      return { kind: 'DATA_LOST' };
    },
    () => [stage.exchange.keys.epoch],
  ],
  [
    'a market that is in no list',
    async () => {
      await stage.exchange.redis.lrem(stage.exchange.keys.marketList, 0, stage.market.terms.id);
      return { kind: 'NAME', marketId: stage.market.terms.id, found: 'not named' };
    },
    () => [stage.exchange.keys.marketList],
  ],
  [
    'a name that leads elsewhere',
    async () => {
      const { redis, keys, known } = stage.exchange;
      const other = [...known.keys()].find((key) => key !== stage.market.terms.id) ?? '';
      await redis.hset(keys.marketNames, stage.market.terms.slug, other);
      return { kind: 'NAME', marketId: stage.market.terms.id, name: stage.market.terms.slug, found: other };
    },
    () => [stage.exchange.keys.marketNames],
  ],
  [
    'an event that counts a market it does not have',
    async () => {
      const { redis, keys } = stage.exchange;
      await redis.hset(keys.events, 'winter', '1 This winter');
      return { kind: 'NAME', name: 'winter', expected: '0', found: '1 This winter' };
    },
    () => [stage.exchange.keys.events],
  ],
  [
    'an order that cannot be read',
    async () => {
      const { redis, keys } = stage.exchange;
      const { hash, orderHash } = await findOrder(stage, 'bids');
      await redis.hset(keys.orders, hash, Buffer.from([0, 1, 2]));
      return { kind: 'ORDER_RECORD', orderHash };
    },
    () => [stage.exchange.keys.orders],
  ],
  [
    'a market in a state that does not exist',
    async () => {
      const { redis, keys } = stage.exchange;
      const state = await redis.hgetBuffer(keys.market(stage.market.terms.id), 's');
      await redis.hset(keys.market(stage.market.terms.id), 's', changed(state, 0, 99));
      return { kind: 'MARKET_STATE', marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.market(stage.market.terms.id)],
  ],
  [
    'a chain of fills that leads elsewhere, and a price that crosses',
    async () => {
      const { redis, keys } = stage.exchange;
      const { hash, orderHash } = await findOrder(stage, 'bids');
      const packed = (await redis.hgetBuffer(keys.orders, hash)) ?? Buffer.alloc(0);
      expect(packed.at(-1)).toBe(1);
      // The sequence of its latest match, and the price to 0.9.
      const spoilt = changed(packed, packed.length - 6, 1);
      spoilt.writeUInt16BE(9_000, 13);
      await redis.hset(keys.orders, hash, spoilt);
      return [
        { kind: 'FILL_CHAIN', orderHash },
        { kind: 'CROSSED_BOOK', marketId: stage.market.terms.id },
        { kind: 'MATCH', marketId: stage.market.terms.id, orderHash },
      ];
    },
    () => [stage.exchange.keys.orders],
  ],
  [
    'a market that nobody will close',
    async () => {
      await stage.exchange.redis.zrem(stage.exchange.keys.closes, stage.market.terms.id);
      return { kind: 'AGENDA', marketId: stage.market.terms.id, found: 'none' };
    },
    () => [stage.exchange.keys.closes],
  ],
  [
    'a market without its document',
    async () => {
      await stage.exchange.redis.hset(stage.exchange.keys.markets, stage.market.terms.id, '{"terms":');
      return { kind: 'DOCUMENT', marketId: stage.market.terms.id };
    },
    () => [stage.exchange.keys.markets],
  ],
];
