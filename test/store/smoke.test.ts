import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createEngine, type PlaceRequest } from '../../src/store/engine';
import { createScripts } from '../../src/store/scripts';
import { lots, micro, pips } from '../../src/exchange/units';

test('smoke', async () => {
  const proc = spawn('redis-server', ['--port', '7999', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  await new Promise((r) => setTimeout(r, 300));
  const redis = new Redis(7999);
  try {
    const engine = createEngine({ run: createScripts(redis), grantMicro: micro(10_000_000_000), makersMax: 500 });
    await engine.createMarket({ id: 'abcdefgh', conditionId: '0x' + '1'.repeat(64), slug: 's' }, '{}', 'OPEN');
    const alice = '0x' + 'aa'.repeat(20);
    const bob = '0x' + 'bb'.repeat(20);
    const req = (maker: string, side: 0 | 1, outcome: 0 | 1, price: number, size: number, more: Partial<PlaceRequest> = {}): PlaceRequest => ({
      marketId: 'abcdefgh', orderHash: '0x' + randomBytes(32).toString('hex'), maker,
      order: { side, outcome, pricePips: pips(price), sizeLots: lots(size), budgetMicro: micro(0) },
      orderType: 'GTC', selfTradePrevention: 'NONE', expirationSec: 0, nonce: 0, feeRateBps: 100, lotLots: lots(1), deadlineMs: 0,
      clientOrderId: null, signed: randomBytes(120), dryRun: false, ...more,
    });
    console.log(await engine.place(req(bob, 0, 1, 4500, 10000)));
    const t = req(alice, 0, 0, 6000, 10000);
    console.log(await engine.place(t));
    console.log(await engine.place(t));
    console.log(await redis.hkeys('{x0}:m:abcdefgh'), await redis.hgetallBuffer('{x0}:bal'), await redis.hgetall('{x0}:sum'));
    await expect(engine.place(req(alice, 1, 0, 6000, 1000000))).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    const s = req(alice, 1, 0, 7000, 5000);
    console.log((await engine.place(s)).record.status);
    console.log(await engine.cancelMany('abcdefgh', alice, [s.orderHash], 'USER'));
    await engine.convert('abcdefgh', bob, micro(1000000), 'op1');
    console.log(await redis.hkeys('{x0}:m:abcdefgh'), await redis.xlen('{x0}:out'));
  } finally { redis.disconnect(); proc.kill(); }
});
