import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { computeAddress, Wallet } from 'ethers';
import { ecdsaSign } from 'secp256k1';
import { createOrderVerifier } from '../src/auth/order-signature';
import { type SignedOrder, ZERO_ADDRESS } from '../src/exchange/order';

/**
 * Filling the book over HTTP: orders that rest, keep-alive connections, one web process beside the one that broadcasts,
 * everything real. The same
 * path with `ethers.verifyTypedData` in place of the native verification runs in turns with it; what is compared is
 * the CPU time of the web process, which other work on the machine disturbs little.
 */
export interface SubmitRow {
  readonly suite: 'submit';
  readonly backend: 'secp256k1' | 'ethers';
  readonly orders: number;
  readonly cpuMicrosPerOrder: number;
  readonly ordersPerCpuSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the native path to the ethers path, once both are known. */
  readonly ratio: number | null;
}

const ADMIN_TOKEN = randomBytes(24).toString('hex');
const CONNECTIONS = 16;
const WALLETS = 50;
const ROUNDS = 3;
const NATIVE_ORDERS = 2_000;
const ETHERS_ORDERS = 300;
const LOT_AMOUNT = 10n ** 16n;

/** `redisUrl` is a Redis of its own. Rows come as they are known; `deadlineMs` bounds the run. */
export async function benchSubmit(
  redisUrl: string,
  deadlineMs: number,
  emit: (row: SubmitRow) => void,
): Promise<void> {
  // The first to start becomes the one that broadcasts; what is measured is what every replica does.
  const broadcaster = await startWeb('secp256k1', redisUrl);
  const webs = await Promise.all(
    (['secp256k1', 'ethers'] as const).map((backend) => startWeb(backend, redisUrl)),
  );
  try {
    const [native, plain] = webs as [Web, Web];
    const { sign } = await createSigner(native);
    const results = new Map<Web, Round[]>([
      [native, []],
      [plain, []],
    ]);
    for (let round = 0; round <= ROUNDS && Date.now() < deadlineMs; round++) {
      for (const [web, count] of [
        [native, NATIVE_ORDERS],
        [plain, ETHERS_ORDERS],
      ] as const) {
        const result = await fillBook(
          web,
          Array.from({ length: count }, () => sign()),
        );
        // The first round warms both up.
        if (round > 0) results.get(web)?.push(result);
      }
    }
    const rows = webs.map((web) => summary(web.backend, results.get(web) ?? []));
    const [fast, slow] = rows as [SubmitRow, SubmitRow];
    emit(slow);
    emit({ ...fast, ratio: Math.round((10 * slow.cpuMicrosPerOrder) / fast.cpuMicrosPerOrder) / 10 });
  } finally {
    for (const { child } of [broadcaster, ...webs]) child.disconnect();
  }
}

export interface Web {
  readonly backend: SubmitRow['backend'];
  readonly child: ChildProcess;
  readonly port: number;
  readonly agent: Agent;
}

interface Round {
  readonly orders: number;
  readonly cpuMicros: number;
  readonly latenciesMs: readonly number[];
}

export async function startWeb(backend: Web['backend'], redisUrl: string): Promise<Web> {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', REDIS_URL: redisUrl, PORT: '0', ADMIN_TOKEN };
  const child = fork(path.join(__dirname, 'web.ts'), [backend], {
    execArgv: ['-r', path.join(__dirname, '../test/support/typescript.js')],
    env: {
      ...env,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT: 'off',
      PAPER_GRANT: '1000000000',
      LOG_LEVEL: 'warn',
    },
  });
  const { port } = await message<{ port: number }>(child);
  return { backend, child, port, agent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS }) };
}

const message = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as T));
    child.once('exit', (code) => reject(new Error(`the web process ended with ${code}`)));
  });

export async function cpuMicros({ child }: { readonly child: ChildProcess }): Promise<number> {
  const answer = message<{ cpuMicros: number }>(child);
  child.send('cpu');
  return (await answer).cpuMicros;
}

export function call(
  web: Web,
  method: string,
  target: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` };
    const isAdmin = target.startsWith('/admin');
    const sent = request(
      {
        port: web.port,
        agent: web.agent,
        method,
        path: target,
        headers: isAdmin ? headers : { 'content-type': headers['content-type'] },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A market, and one signed submission for it after another: bids below and asks (BUY No) above the middle. */
export async function createSigner(web: Web) {
  const created = await call(
    web,
    'POST',
    '/admin/markets',
    JSON.stringify({ question: 'Does the book fill?' }),
  );
  const market = JSON.parse(created.text) as {
    id: string;
    conditionId: string;
    outcomes: { tokenId: string }[];
  };
  const { eip712 } = JSON.parse((await call(web, 'GET', '/config')).text);
  const verifier = await createOrderVerifier(eip712.domain);
  const wallets = Array.from({ length: WALLETS }, (_, i) => {
    const key = createHash('sha256').update(`bench wallet ${i}`).digest();
    return { key, address: computeAddress(new Wallet(`0x${key.toString('hex')}`).signingKey.publicKey) };
  });
  let count = 0;
  /** At `cents`, or at one of forty prices below the middle, one after another. */
  const sign = (cents?: number): { path: string; body: string } => {
    const { key, address } = wallets[count % WALLETS] as (typeof wallets)[number];
    const tokens = 100n * LOT_AMOUNT;
    const outcome = count % 2;
    const fields: SignedOrder = {
      salt: BigInt(`0x${randomBytes(16).toString('hex')}`),
      maker: address,
      signer: address,
      taker: ZERO_ADDRESS,
      tokenId: BigInt(market.outcomes[outcome]?.tokenId ?? 0),
      makerAmount: (tokens * BigInt(cents ?? 1 + (count % 40))) / 100n,
      takerAmount: tokens,
      expiration: 0n,
      nonce: 0n,
      feeRateBps: 0n,
      side: 0,
      signatureType: 0,
      signature: '',
    };
    count++;
    const digest = Buffer.from(verifier.hash(fields).slice(2), 'hex');
    const { signature, recid } = ecdsaSign(digest, key);
    const order = {
      ...Object.fromEntries(
        Object.entries(fields).map(([name, v]) => [name, typeof v === 'bigint' ? v.toString() : v]),
      ),
      signature: `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`,
    };
    return { path: `/markets/${market.id}/orders`, body: JSON.stringify({ order }) };
  };
  return { market, sign };
}

async function fillBook(web: Web, submissions: readonly { path: string; body: string }[]): Promise<Round> {
  const before = await cpuMicros(web);
  const latenciesMs: number[] = [];
  let next = 0;
  const connection = async (): Promise<void> => {
    for (let i = next++; i < submissions.length; i = next++) {
      const { path: target, body } = submissions[i] as (typeof submissions)[number];
      const start = performance.now();
      const { status, text } = await call(web, 'POST', target, body);
      if (status !== 200) throw new Error(`refused: ${text}`);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { orders: submissions.length, cpuMicros: (await cpuMicros(web)) - before, latenciesMs };
}

function summary(backend: SubmitRow['backend'], rounds: readonly Round[]): SubmitRow {
  const perOrder = rounds.map(({ cpuMicros: micros, orders }) => micros / orders).sort((a, b) => a - b);
  const latencies = rounds.flatMap((round) => round.latenciesMs).sort((a, b) => a - b);
  const at = (part: number): number =>
    Math.round(100 * (latencies[Math.floor(latencies.length * part)] ?? Number.NaN)) / 100;
  const median = perOrder[Math.floor(perOrder.length / 2)] ?? Number.NaN;
  return {
    suite: 'submit',
    backend,
    orders: latencies.length,
    cpuMicrosPerOrder: Math.round(median),
    ordersPerCpuSecond: Math.round(1e6 / median),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    ratio: null,
  };
}
