import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyTypedData } from 'ethers';
import express, { type Express } from 'express';
import { Cluster, Redis } from 'ioredis';
import Joi from 'joi';
import jwt from 'jsonwebtoken';
import { EIP712_ORDER_TYPES } from '../src/auth/order-hash';
import { tagOf } from '../src/store/redis/tags';

/**
 * The baselines of a submission, each a process of its own on the Redis of its first argument.
 * `plain`  the stack one would write first: express, express.json, joi, `ethers.verifyTypedData`, jsonwebtoken, and one
 *          Lua script that keeps orders as JSON members of a sorted set;
 * `floor`  Express with one trivial EVALSHA, nothing checked and nothing verified.
 * Both take POST /orders { order } and POST /cancel { orderHash }; the plain stack's /session gives a bearer for a wallet.
 */
const BOOK_SCRIPT = `
  local order = cjson.decode(ARGV[1])
  local own, other = KEYS[2], KEYS[1]
  if order.bid then own, other = KEYS[1], KEYS[2] end
  if redis.call('HEXISTS', KEYS[3], order.hash) == 1 then return cjson.encode({ status = 'DUPLICATE' }) end
  local fills = {}
  while order.size > 0 do
    local best = redis.call('ZRANGE', other, 0, 0)[1]
    if not best then break end
    local maker = cjson.decode(best)
    local crosses = maker.price >= order.price
    if order.bid then crosses = maker.price <= order.price end
    if not crosses then break end
    local size = math.min(order.size, maker.size)
    redis.call('ZREM', other, best)
    order.size, maker.size = order.size - size, maker.size - size
    if maker.size > 0 then
      local text = cjson.encode(maker)
      redis.call('ZADD', other, maker.bid and -maker.price or maker.price, text)
      redis.call('HSET', KEYS[3], maker.hash, text)
    else
      redis.call('HDEL', KEYS[3], maker.hash)
    end
    fills[#fills + 1] = { maker = maker.hash, price = maker.price, size = size }
  end
  if order.size > 0 then
    local text = cjson.encode(order)
    redis.call('ZADD', own, order.bid and -order.price or order.price, text)
    redis.call('HSET', KEYS[3], order.hash, text)
  end
  return cjson.encode({ status = order.size > 0 and 'OPEN' or 'FILLED', fills = fills })`;
const CANCEL_SCRIPT = `
  local text = redis.call('HGET', KEYS[3], ARGV[1])
  if not text then return 0 end
  local order = cjson.decode(text)
  if order.maker ~= ARGV[2] then return 0 end
  redis.call('ZREM', order.bid and KEYS[1] or KEYS[2], text)
  redis.call('HDEL', KEYS[3], ARGV[1])
  return 1`;
const KEYS = ['plain:bids', 'plain:asks', 'plain:orders'];
const PRICE_UNIT = 10_000n;
const SIZE_UNIT = 10n ** 16n;
const SECRET = randomBytes(32);

const uint = Joi.string()
  .pattern(/^(0|[1-9][0-9]*)$/)
  .required();
const address = Joi.string()
  .pattern(/^0x[0-9a-fA-F]{40}$/)
  .required();
const orderBody = Joi.object({
  order: Joi.object({
    salt: uint,
    maker: address,
    signer: address,
    taker: address,
    tokenId: uint,
    makerAmount: uint,
    takerAmount: uint,
    expiration: uint,
    nonce: uint,
    feeRateBps: uint,
    side: Joi.number().valid(0, 1).required(),
    signatureType: Joi.number().valid(0).required(),
    signature: Joi.string().required(),
  }).required(),
  orderType: Joi.string(),
}).required();
const cancelBody = Joi.object({ orderHash: Joi.string().required() }).required();

function addPlain(app: Express, redis: Redis, domain: object, yesToken: string): void {
  redis.defineCommand('book', { numberOfKeys: KEYS.length, lua: BOOK_SCRIPT });
  redis.defineCommand('drop', { numberOfKeys: KEYS.length, lua: CANCEL_SCRIPT });
  const scripts = redis as unknown as Record<'book' | 'drop', (...args: string[]) => Promise<unknown>>;
  app.use(express.json());
  app.post('/orders', async (request, response) => {
    const { value, error } = orderBody.validate(request.body);
    if (error) return void response.status(400).json({ error: error.message });
    const { signature, ...order } = value.order;
    if (verifyTypedData(domain, ORDER_TYPES_OF_ETHERS, order, signature) !== order.signer) {
      return void response.status(400).json({ error: 'bad signature' });
    }
    const hash = signature.slice(0, 66);
    const pips = Number((BigInt(order.makerAmount) * PRICE_UNIT) / BigInt(order.takerAmount));
    const bid = order.tokenId === yesToken;
    const size = Number(BigInt(order.takerAmount) / SIZE_UNIT);
    const entry = { hash, maker: order.maker, bid, price: bid ? pips : Number(PRICE_UNIT) - pips, size };
    const answer = await scripts.book(...KEYS, JSON.stringify(entry));
    response.json({ orderHash: hash, ...JSON.parse(String(answer)) });
  });
  app.post('/session', (request, response) => {
    response.json({ token: jwt.sign({ sub: request.body.address }, SECRET, { expiresIn: 900 }) });
  });
  app.post('/cancel', async (request, response) => {
    const { sub } = jwt.verify(request.headers.authorization?.slice(7) ?? '', SECRET) as jwt.JwtPayload;
    const { value, error } = cancelBody.validate(request.body);
    if (error) return void response.status(400).json({ error: error.message });
    response.json({ cancelled: await scripts.drop(...KEYS, value.orderHash, String(sub)) });
  });
}

/** With several servers, each request goes to another one. */
function addFloor(app: Express, redis: Redis | Cluster, servers: number): void {
  let turn = 0;
  redis.defineCommand('one', { numberOfKeys: 1, lua: 'return 1' });
  const scripts = redis as unknown as Record<'one', (...args: string[]) => Promise<unknown>>;
  app.use(express.json());
  app.post(['/orders', '/cancel'], async (request, response) => {
    const told = String(request.body.order?.signature ?? request.body.orderHash);
    response.json({
      orderHash: told.slice(0, 66),
      one: await scripts.one(`{${tagOf(turn++ % servers)}}:floor`, told),
    });
  });
}

const ORDER_TYPES_OF_ETHERS = EIP712_ORDER_TYPES as unknown as Parameters<typeof verifyTypedData>[1];

function main([kind, url, domain, yesToken]: readonly string[]): void {
  const urls = (url ?? '').split(',');
  const app = express();
  if (kind === 'plain') addPlain(app, new Redis(url ?? ''), JSON.parse(domain ?? '{}'), yesToken ?? '');
  else addFloor(app, urls.length > 1 ? new Cluster(urls) : new Redis(url ?? ''), urls.length);
  // As in the exchange: a connection that waits for its turn is not closed while its next request arrives.
  const server = createServer({ keepAliveTimeout: 65_000 }, app);
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
  });
  process.on('disconnect', () => process.exit(0));
}

main(process.argv.slice(2));
