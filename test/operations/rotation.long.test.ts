import { JWT_SECRET } from '../support/settings';
import { createTrader, domainOf } from '../support/trader';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The rotation of docs/run/operations.md, with two replicas that change one after the other. Every session continues. */
const OLD = JWT_SECRET;
const NEW = 'the-next-secret-of-the-tests-0123456789abc';
/** JWT_SECRET of each step, beginning with a secret without a name. */
const STEPS = [OLD, `a:${OLD},b:${NEW}`, `b:${NEW},a:${OLD}`];

let exchange: WebReplicas;
let replicas: [Replica, Replica];
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0 });
  replicas = [await start(OLD), await start(OLD)];
});
afterAll(() => exchange.stop());

const start = (secret: string): Promise<Replica> => exchange.replica({ JWT_SECRET: secret });

interface Session {
  readonly name: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Signs in with the nonce of one replica at the other. */
async function signIn(name: string, at: Replica): Promise<Session> {
  const domain = await domainOf(at.client);
  const { body, status } = await createTrader(at.client, domain).signIn();
  expect([name, status]).toEqual([name, 200]);
  return { name, ...body };
}

async function refusedAt(sessions: readonly Session[], at: Replica): Promise<string[]> {
  const answers = await Promise.all(
    sessions.map(({ accessToken: token }) => at.client.get('/me/balances', { token })),
  );
  return sessions.filter((_, i) => answers[i]?.status !== 200).map(({ name }) => name);
}

test('a rotation of JWT_SECRET, replica by replica, signs no user out, and ends the old secret only with the last step', async () => {
  const sessions: Session[] = [];
  const everywhere = async (when: string): Promise<void> => {
    for (const [i, at] of replicas.entries()) {
      sessions.push(await signIn(`${when}, at ${i}`, at));
      for (const other of replicas) expect([when, await refusedAt(sessions, other)]).toEqual([when, []]);
    }
  };
  await everywhere('before');
  for (const [step, secret] of STEPS.entries()) {
    for (const i of [0, 1] as const) {
      const next = await start(secret);
      await replicas[i].stop();
      replicas[i] = next;
      await everywhere(`step ${step}, replica ${i}`);
    }
  }
  const [first] = sessions;
  const renewed = await replicas[0].client.post('/auth/refresh', {
    body: { refreshToken: first?.refreshToken },
  });
  expect(renewed.status).toBe(200);
  const last = await start(`b:${NEW}`);
  const gone = await refusedAt(sessions, last);
  expect(gone).toContain('before, at 0');
  expect(gone).not.toContain('step 2, replica 1, at 1');
});

test('while ADMIN_TOKEN is a list, each of its tokens opens the admin routes, and afterwards only the new one', async () => {
  const [old, next] = ['the-old-token-of-operators-0123456789', 'the-new-token-of-operators-9876543210'];
  const statuses = async (tokens: string): Promise<number[]> => {
    const replica = await exchange.replica({ ADMIN_TOKEN: tokens });
    const answers = await Promise.all(
      [old, next, `${old},${next}`].map((token) => replica.client.get('/admin/markets', { token })),
    );
    const boards = await Promise.all(
      [old, next].map((token) =>
        fetch(`${replica.url}/admin/queues`, {
          headers: { authorization: `Basic ${Buffer.from(`admin:${token}`).toString('base64')}` },
        }),
      ),
    );
    await replica.stop();
    return [...answers, ...boards].map(({ status }) => status);
  };
  expect(await statuses(old)).toEqual([200, 401, 401, 200, 401]);
  expect(await statuses(`${old},${next}`)).toEqual([200, 200, 401, 200, 200]);
  expect(await statuses(next)).toEqual([401, 200, 401, 401, 200]);
});
