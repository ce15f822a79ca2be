import type { Market } from '../../../src/exchange/facts';
import { MARKET_STATUSES, type MarketStatus } from '../../../src/exchange/market';
import { createAgenda } from '../../../src/store/markets/agenda';
import { encodeMarket } from '../../../src/store/records/market';
import { alice, bob, type EngineWorld, YES } from '../../support/engine-world';
import { TERMS } from '../trading';
import { withWorlds } from './setup';

const { world } = withWorlds();
const CLOSES_MS = 1_900_000_000_000;

const documentOf = (id: string, closesAtMs: number | null): Market => ({
  terms: { ...TERMS, id },
  texts: { question: '?', description: '', category: 'general', tags: [], imageUrl: null, closesAtMs },
});

async function list(
  w: EngineWorld,
  id: string,
  closesAtMs: number | null,
  status: MarketStatus,
): Promise<void> {
  const document = encodeMarket(documentOf(id, closesAtMs));
  await w.engine.createMarket({ id, conditionId: `0x${id}`, slug: id }, document, status);
}

const closeAt = (w: EngineWorld, id: string, closesAtMs: number | null): Promise<void> =>
  w.engine.editMarket(
    id,
    ({ terms, texts }) => ({ terms, texts: { ...texts, closesAtMs } }),
    MARKET_STATUSES[2],
  );

test('a market is due when its time has come, while it is open, and never as a draft', async () => {
  const w = world();
  const agenda = createAgenda(w);
  await list(w, 'opens000', CLOSES_MS, 'OPEN');
  await list(w, 'drafts00', CLOSES_MS, 'DRAFT');
  await list(w, 'forever0', null, 'OPEN');
  expect(await agenda.due(CLOSES_MS - 1)).toEqual([]);
  expect(await agenda.due(CLOSES_MS + 0.5)).toEqual(['opens000']);
  await w.engine.moveMarket('opens000', 'PAUSED', ['OPEN']);
  expect(await agenda.due(CLOSES_MS)).toEqual(['opens000']);
  await w.engine.moveMarket('drafts00', 'OPEN', ['DRAFT']);
  expect((await agenda.due(CLOSES_MS)).sort()).toEqual(['drafts00', 'opens000']);
  await w.engine.moveMarket('opens000', 'CLOSED', ['PAUSED']);
  await w.engine.resolveMarket('drafts00', YES);
  expect(await agenda.due(CLOSES_MS)).toEqual([]);
});

test('an edit changes or removes the closing time, or sets one for a market without', async () => {
  const w = world();
  const agenda = createAgenda(w);
  await list(w, 'edited00', CLOSES_MS, 'OPEN');
  await closeAt(w, 'edited00', CLOSES_MS + 60_000);
  expect(await agenda.due(CLOSES_MS + 59_999)).toEqual([]);
  expect(await agenda.due(CLOSES_MS + 60_000)).toEqual(['edited00']);
  await closeAt(w, 'edited00', null);
  expect(await agenda.due(Number.MAX_SAFE_INTEGER)).toEqual([]);
  await closeAt(w, 'edited00', 1);
  expect(await agenda.due(2)).toEqual(['edited00']);
  await w.engine.moveMarket('edited00', 'CLOSED', ['OPEN']);
  await expect(closeAt(w, 'edited00', 3)).rejects.toMatchObject({ message: 'the market is CLOSED' });
});

test('a market that has ended is wound up until no order rests and no holder waits', async () => {
  const w = world();
  const agenda = createAgenda(w);
  await w.market();
  await w.split(alice, '5');
  await w.place(w.sell(alice, YES, '5', '0.50'));
  await w.engine.moveMarket('market00', 'CLOSED', ['OPEN']);
  expect(await agenda.ending()).toEqual(['market00']);
  await w.engine.clearBook('market00', 1);
  await w.engine.clearBook('market00', 1);
  expect(await agenda.ending()).toEqual([]);
  await w.engine.resolveMarket('market00', null);
  expect(await agenda.ending()).toEqual(['market00']);
  await w.engine.clearBook('market00');
  expect(await agenda.ending()).toEqual(['market00']);
  await w.engine.payHolders('market00');
  expect(await agenda.ending()).toEqual([]);
  expect((await w.balance(alice)).cash).toBe('10000 (0)');
});

test('a call that comes too early closes nothing, because the script reads its own clock', async () => {
  const w = world();
  await list(w, 'market00', CLOSES_MS, 'OPEN');
  await list(w, 'forever0', null, 'OPEN');
  await w.clock(CLOSES_MS - 1);
  expect(await w.engine.closeWhenDue('market00')).toBe(false);
  expect(await w.engine.closeWhenDue('forever0')).toBe(false);
  // Nothing changed, so there is no entry.
  expect((await w.outbox()).filter(({ kind }) => kind === 'MARKET')).toHaveLength(2);
  await closeAt(w, 'market00', CLOSES_MS + 60_000);
  await w.clock(CLOSES_MS);
  expect(await w.engine.closeWhenDue('market00')).toBe(false);
  await closeAt(w, 'market00', CLOSES_MS);
  expect(await w.engine.closeWhenDue('market00')).toBe(true);
  await expect(w.engine.moveMarket('market00', 'OPEN', ['PAUSED'])).rejects.toMatchObject({
    message: expect.stringContaining('CLOSED'),
  });
  expect(await w.engine.closeWhenDue('market00')).toBe(false);
});

test('a document that no script can parse changes nothing of the market, in any verb', async () => {
  const w = world();
  const unreadable = '{"texts":{"question":"\\ud800"}}';
  const names = (id: string) => ({ id, conditionId: `0x${id}`, slug: id });
  await expect(w.engine.createMarket(names('broken00'), unreadable, 'OPEN')).rejects.toThrow();
  expect(await w.redis.exists(w.keys.market('broken00'), w.keys.marketNames, w.keys.outbox)).toBe(0);
  await list(w, 'opens000', CLOSES_MS, 'OPEN');
  await w.redis.hset(w.keys.markets, 'opens000', unreadable);
  const before = await w.redis.hgetBuffer(w.keys.market('opens000'), 's');
  await expect(w.engine.moveMarket('opens000', 'PAUSED', ['OPEN'])).rejects.toThrow();
  expect(await w.redis.hgetBuffer(w.keys.market('opens000'), 's')).toEqual(before);
});

test('from its closing time on a market takes no orders and no sets, though no worker has closed it', async () => {
  const w = world();
  await w.market({ id: 'market00' });
  await w.split(bob, '10');
  await w.place(w.sell(bob, YES, '5', '0.50'));
  const resting = w.buy(alice, YES, '5', '0.40');
  await w.place(resting);
  await w.redis.hset(w.keys.markets, 'market00', encodeMarket(documentOf('market00', null)));
  await closeAt(w, 'market00', CLOSES_MS);
  const filled = w.buy(alice, YES, '1', '0.50');
  await w.clock(CLOSES_MS - 1);
  await w.place(filled);

  await w.clock(CLOSES_MS);
  const closed = { code: 'MARKET_NOT_OPEN', message: 'the market is CLOSED' };
  const { outbox } = w.keys;
  const before = await w.redis.xlen(outbox);
  for (const type of ['GTC', 'IOC', 'FOK', 'POST_ONLY', 'MARKET'] as const)
    await expect(w.place(w.buy(alice, YES, '1', '0.50', { type, budget: '1' }))).rejects.toMatchObject(
      closed,
    );
  await expect(w.place(w.buy(alice, YES, '1', '0.30'))).rejects.toMatchObject(closed);
  await expect(w.place(w.buy(alice, YES, '1', '0.50', { dryRun: true }))).rejects.toMatchObject(closed);
  const replacement = w.buy(alice, YES, '1', '0.50');
  await expect(w.engine.replace(replacement, resting.orderHash)).rejects.toMatchObject(closed);
  await expect(w.split(alice, '1')).rejects.toMatchObject(closed);
  await expect(w.split(bob, '-1')).rejects.toMatchObject(closed);
  await expect(closeAt(w, 'market00', CLOSES_MS + 1)).rejects.toMatchObject(closed);
  await expect(w.engine.moveMarket('market00', 'PAUSED', ['OPEN'])).rejects.toMatchObject(closed);
  expect(await w.redis.xlen(outbox)).toBe(before);

  // An order that was booked in time has its answer, and a cancel is always possible.
  expect((await w.place(filled)).replayed).toBe(true);
  await w.engine.cancel('market00', alice, resting.orderHash, 'USER');
  expect((await w.stored(resting))?.status).toBe('CANCELLED');
});
