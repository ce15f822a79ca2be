import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Wallet } from 'ethers';
import { createTokens, parseJwtSecrets } from '../../src/auth/tokens';
import type { Client } from '../support/client';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { openMarket, siweText } from '../support/trader';
import { sleep, until } from '../support/waiting';
import type { Wish } from './people';
import { startTradingFleet, type TradingFleet } from './trading-fleet';

/**
 * The second web process and the worker have wrong clocks; the first web process, Redis and this test have the right one.
 * Nothing that a client sees shows which process answered, or which worker ran a chore.
 */
const OFF_MS = 120_000;
/** The largest accepted difference between a time in an answer and the right one: a busy machine answers late. */
const EXACT_MS = 1_000;
/** The chores run at least once a second. By a wrong clock something due would come two minutes late. */
const IN_TIME = { patienceMs: 60_000 };
/** Something that must exist for a few requests and end then, also on a busy machine. */
const LIFE_SEC = 6;
const SECOND_MS = 1_000;
const WISH: Wish = { side: 'BUY', outcome: 0, pips: 2_000, lots: 100, expiration: 0 };

const folder = mkdtempSync(path.join(tmpdir(), 'exchange-clocks-'));
afterAll(() => rmSync(folder, { recursive: true }));
const clockFile = (name: string, number: number): string | undefined =>
  name === 'web' && number === 0 ? undefined : path.join(folder, name);
const setClock = (name: 'web' | 'worker', ms: number): void =>
  writeFileSync(path.join(folder, name), String(ms));

const CLOCKS = [
  ['ahead', OFF_MS],
  ['behind', -OFF_MS],
] as const;

describe.each(CLOCKS)('clocks that are two minutes %s', (_, offMs) => {
  let stage: TradingFleet;
  let wrong: Client;
  let right: Client;
  beforeAll(async () => {
    setClock('web', offMs);
    setClock('worker', offMs);
    stage = await startTradingFleet({ seed: `clocks ${offMs}`, markets: 1, people: 2, clockFile });
    [right, wrong] = stage.fleet.webs.map(({ client }) => client) as [Client, Client];
  });
  afterAll(() => stage?.stop());

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / SECOND_MS) + seconds;

  async function place(client: Client, wish: Partial<Wish>, more: Record<string, unknown> = {}) {
    const [market] = stage.markets;
    const [person] = stage.people;
    if (!market || !person) throw new Error('no stage');
    const signed = person.sign(market, { ...WISH, ...wish });
    const { status, body } = await client.post(`/markets/${market.id}/orders`, {
      body: { order: signed.wire, ...more },
    });
    return { status, code: body.code ?? body.status, hash: signed.orderHash };
  }

  const statusOf = async (hash: string): Promise<string> => (await right.get(`/orders/${hash}`)).body.status;

  /** Names a moment between the request and now. */
  function expectRight(toldMs: number, sentMs: number, exactMs = EXACT_MS): void {
    expect(toldMs).toBeGreaterThan(sentMs - exactMs);
    expect(toldMs).toBeLessThan(Date.now() + exactMs);
  }

  test('the times in answers are right', async () => {
    const sentMs = Date.now();
    const { headers, body } = await wrong.get('/time');
    expectRight(body.timestamp, sentMs);
    expectRight(Date.parse(headers.get('date') ?? ''), sentMs, SECOND_MS);
    expectRight((await wrong.get(`/markets/${stage.markets[0]?.id}/trading`)).body.serverTime, sentMs);
  });

  test('a sign-in message with the right time is accepted, and an old one is refused', async () => {
    const wallet = Wallet.createRandom();
    const signIn = async (issuedMs: number) => {
      const sentMs = Date.now();
      const { body } = await wrong.get(`/auth/nonce/${wallet.address}`);
      expectRight(Date.parse(body.issuedAt), sentMs);
      const message = siweText(body, { issuedAt: new Date(issuedMs).toISOString() });
      const signature = await wallet.signMessage(message);
      return (await wrong.post('/auth/verify', { body: { message, signature } })).status;
    };
    expect(await signIn(Date.now())).toBe(200);
    expect(await signIn(Date.now() - 9.5 * 60 * SECOND_MS)).toBe(200);
    expect(await signIn(Date.now() - 10.5 * 60 * SECOND_MS)).toBe(401);
    expect(await signIn(Date.now() + 50 * SECOND_MS)).toBe(200);
    expect(await signIn(Date.now() + 70 * SECOND_MS)).toBe(401);
  });

  test('a token is valid until its second, and not longer', async () => {
    const tokens = createTokens({
      secrets: parseJwtSecrets(ENVIRONMENT.JWT_SECRET),
      issuer: ENVIRONMENT.PUBLIC_BASE_URL,
      audience: 'chain:97',
      nowMs: Date.now,
    });
    const { address, sid, jti } = tokens.verify('access', stage.people[0]?.token);
    // The token is dated so far back that it ends in a few seconds.
    const endsAtSec = inSeconds(LIFE_SEC);
    const ending = tokens.sign('access', { address, sid, jti, issuedAtSec: endsAtSec - 900 });
    const me = (token: string | undefined) => wrong.get('/me/balances', { token });
    expect((await me(stage.people[0]?.token)).status).toBe(200);
    expect((await me(ending)).status).toBe(200);
    await until('it has ended', async () => (await me(ending)).status === 401, IN_TIME);
    expect(Date.now()).toBeGreaterThan(endsAtSec * SECOND_MS - EXACT_MS);
    expect((await me(ending)).body).toMatchObject({ status: 401, code: 'TOKEN_EXPIRED' });
  });

  test('orders are accepted, expire at their second, and keep their deadlines', async () => {
    expect(await place(wrong, {})).toMatchObject({ status: 200, code: 'OPEN' });
    expect(await place(wrong, { expiration: inSeconds(-1) })).toMatchObject({ code: 'ORDER_EXPIRED' });
    expect(await place(wrong, {}, { deadline: Date.now() + 30 * SECOND_MS })).toMatchObject({ status: 200 });
    expect(await place(wrong, {}, { deadline: Date.now() - 1 })).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const expiration = inSeconds(LIFE_SEC);
    const { status, hash } = await place(wrong, { expiration });
    expect([status, await statusOf(hash)]).toEqual([200, 'OPEN']);
    await until('it has expired', async () => (await statusOf(hash)) === 'EXPIRED', IN_TIME);
    expect(Date.now()).toBeGreaterThanOrEqual(expiration * SECOND_MS);
  });

  test('a market closes at `closesAt`', async () => {
    const closesAtMs = Date.now() + LIFE_SEC * SECOND_MS;
    const closesAt = new Date(closesAtMs).toISOString();
    const { id } = await openMarket(wrong, ADMIN_TOKEN, { closesAt });
    await until(
      'it is closed',
      async () => (await right.get(`/markets/${id}`)).body.status === 'CLOSED',
      IN_TIME,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(closesAtMs);
  });

  test('a worker whose clock is right takes over at once when the other ends', async () => {
    const [worker] = stage.fleet.workers;
    const { status, hash } = await place(right, { expiration: inSeconds(LIFE_SEC) });
    expect(status).toBe(200);
    await worker?.kill();
    setClock('worker', 0);
    await sleep(LIFE_SEC * SECOND_MS);
    await worker?.start();
    await until('it has expired', async () => (await statusOf(hash)) === 'EXPIRED', IN_TIME);
  });

  test('clocks that are set while the processes run change nothing', async () => {
    for (const step of [-offMs, 0]) {
      setClock('web', step);
      setClock('worker', step);
      await sleep(100);
      const expiration = inSeconds(LIFE_SEC);
      const { status, hash } = await place(wrong, { expiration });
      expect(status).toBe(200);
      await until('it has expired', async () => (await statusOf(hash)) === 'EXPIRED', IN_TIME);
      expect(Date.now()).toBeGreaterThanOrEqual(expiration * SECOND_MS);
    }
  });
});
