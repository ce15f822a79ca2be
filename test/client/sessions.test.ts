import { ExchangeError, type Fetch, type Session, siweText } from 'ctf-exchange-client';
import { SiweMessage } from 'siwe';
import { startTypedClients, type TypedClients } from '../support/typed-clients';

let stage: TypedClients;
beforeAll(async () => {
  stage = await startTypedClients();
});
afterAll(() => stage.stop());

/** A trader whose requests are recorded, and the sessions it received. */
async function noted() {
  const asked: string[] = [];
  const sessions: (Session | null)[] = [];
  let lose = false;
  const fetch: Fetch = async (url, init) => {
    asked.push(`${init?.method} ${new URL(url).pathname}`);
    const response = await globalThis.fetch(url, init);
    if (lose) {
      lose = false;
      throw new TypeError('the reply is lost');
    }
    return response;
  };
  const { client, wallet } = await stage.trader({ fetch, onSession: (session) => sessions.push(session) });
  const session = client.session as Session;
  asked.length = 0;
  const count = (line: string): number => asked.filter((one) => one === line).length;
  return { client, wallet, session, sessions, count, loseNext: () => (lose = true) };
}
const REFRESH = 'POST /auth/refresh';

test('the message is the one the siwe library writes', async () => {
  const { wallet } = await stage.trader({ signIn: false });
  const { body } = await stage.exchange.client.get(`/auth/nonce/${wallet.address}`);
  const { expiresAt: _, ...fields } = body;
  expect(siweText(body)).toBe(new SiweMessage(fields).prepareMessage());
});

test('an expiring token is renewed once, however many requests need it', async () => {
  const { client, session, sessions, count } = await noted();
  client.useSession({ ...session, expiresAt: Date.now() });
  await Promise.all(Array.from({ length: 10 }, () => client.balances()));
  expect(count(REFRESH)).toBe(1);
  expect(sessions).toEqual([session, client.session]);
  expect(client.session?.refreshToken).not.toBe(session.refreshToken);
  expect(client.session?.expiresAt).toBeGreaterThan(Date.now() + 800_000);
});

test('a lost reply to a refresh does not end the session', async () => {
  const { client, session, count, loseNext } = await noted();
  client.useSession({ ...session, expiresAt: Date.now() });
  loseNext();
  expect(await client.accessToken()).not.toBeNull();
  expect(count(REFRESH)).toBe(2);
  expect((await client.balances()).collateral.reserved).toBe('0');
});

test('a token that the exchange refuses is renewed once, and the request is sent again', async () => {
  const { client, session, count } = await noted();
  client.useSession({ ...session, accessToken: `${session.accessToken}x` });
  const answers = await Promise.all([client.balances(), client.orders(), client.balances()]);
  expect(answers[1]).toEqual({ data: [], nextCursor: null });
  expect(count(REFRESH)).toBe(1);
});

test('a session that has ended on the exchange ends in the client as well', async () => {
  const { client, session, sessions } = await noted();
  await client.signOut();
  expect([client.session, sessions.at(-1), await client.accessToken()]).toEqual([null, null, null]);
  client.useSession(session);
  await expect(client.balances()).rejects.toMatchObject({ status: 401, code: 'TOKEN_INVALID' });
  expect([client.session, sessions.at(-1)]).toEqual([null, null]);
});

test('without a session the client requests no token', async () => {
  const { client } = await stage.trader({ signIn: false });
  const error = await client.balances().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ExchangeError);
  expect(error).toMatchObject({ status: 0, code: 'NOT_SIGNED_IN', retryable: false });
});
