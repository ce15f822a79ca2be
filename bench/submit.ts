import type { Backend } from '../src/auth/recovery';
import { createSigner, type Signer, type Submission } from './signer';
import { call, cpuMicros, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * Orders over HTTP at one web process beside the one that broadcasts, 16 keep-alive connections, everything real. Two
 * mixes: all orders rest, and 45 % rest, 40 % are cancels, 15 % cross. In turns with it, by the CPU time of the serving
 * process, which other work on the machine disturbs little:
 *   ethers  the same program with `ethers.verifyTypedData` in place of the native verification
 *   plain   the stack one would write first (bench/plain.ts)
 *   floor   Express with one trivial EVALSHA, nothing checked
 */
export interface SubmitRow {
  readonly suite: 'submit';
  readonly mix: Mix;
  readonly what: 'exchange' | 'ethers' | 'plain' | 'floor';
  readonly commands: number;
  readonly cpuMicros: number;
  readonly perCpuSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * CPU time of the plain stack and of the floor divided by that of the exchange; the p99 of the exchange divided by
   * the floor's.
   */
  readonly timesPlain: number | null;
  readonly ofFloor: number | null;
  readonly p99OfFloor: number | null;
}

type Mix = 'rest' | 'mixed';
const MIXES: readonly Mix[] = ['rest', 'mixed'];
const CONNECTIONS = 16;
const ROUNDS = 5;
/** Commands of a round; fewer for the slow ones. */
const COMMANDS = { exchange: 2_000, ethers: 300, plain: 300, floor: 2_000 } as const;
/** Warm-up before the first round, until V8 has compiled the hot code, as in a process that has served for a minute. */
const WARM_UP = { exchange: 10_000, ethers: 1_000, plain: 1_000, floor: 10_000 } as const;
/** Of twenty commands of the mix: 9 rest, 8 cancel, 3 cross. */
const PATTERN = 'rcrcxrcrcrcxrcrcrcxr';
/** The resting orders to be crossed: large enough for every taker of a run. */
const MAKER_LOTS = 100_000_000n;
const MAKER_CENTS = 45;
const TAKER_CENTS = 56;

interface Contender {
  readonly what: SubmitRow['what'];
  readonly side: Side;
  submit(submission: Submission): Promise<{ status: number; text: string }>;
  cancel(submission: Submission): Promise<{ status: number; text: string }>;
}

interface Round {
  readonly commands: number;
  readonly cpuMicros: number;
  readonly latenciesMs: readonly number[];
}

/** `redisUrl` is a separate Redis. Rows come as soon as they are known; `deadlineMs` bounds the run. */
export async function benchSubmit(
  redisUrl: string,
  deadlineMs: number,
  emit: (row: SubmitRow) => void,
): Promise<void> {
  // The first process becomes the broadcaster; the measured work is that of every replica.
  const broadcaster = await startWeb('secp256k1', redisUrl);
  const sides: Side[] = [broadcaster];
  try {
    const signer = await createSigner(broadcaster);
    const contenders = [
      await exchange('exchange', 'secp256k1', redisUrl, signer),
      await exchange('ethers', 'ethers', redisUrl, signer),
      await other('plain', redisUrl, signer),
      await other('floor', redisUrl, signer),
    ];
    sides.push(...contenders.map(({ side }) => side));
    for (const { submit } of contenders.slice(1)) await submit(signer.sign(MAKER));
    for (const mix of MIXES) {
      const results = new Map<Contender, Round[]>(contenders.map((contender) => [contender, []]));
      for (const contender of contenders) await run(contender, signer, mix, WARM_UP[contender.what]);
      for (let round = 0; round < ROUNDS && Date.now() < deadlineMs; round++) {
        for (const contender of contenders) {
          results.get(contender)?.push(await run(contender, signer, mix, COMMANDS[contender.what]));
        }
      }
      for (const row of rowsOf(mix, results)) emit(row);
    }
  } finally {
    stopSides(sides);
  }
}

const MAKER = { outcome: 1, cents: MAKER_CENTS, lots: MAKER_LOTS } as const;

async function exchange(
  what: 'exchange' | 'ethers',
  backend: Backend,
  url: string,
  signer: Signer,
): Promise<Contender> {
  const side = await startWeb(backend, url);
  const tokens = await signer.signIn();
  return {
    what,
    side,
    submit: ({ path, body }) => call(side, 'POST', path, body),
    cancel: ({ orderHash, wallet }) =>
      call(side, 'POST', `/orders/${orderHash}/cancel`, undefined, tokens[wallet]),
  };
}

async function other(
  what: 'plain' | 'floor',
  url: string,
  { domain, market, addresses }: Signer,
): Promise<Contender> {
  const side = await startSide('plain.ts', [
    what,
    url,
    JSON.stringify(domain),
    market.outcomes[0]?.tokenId ?? '',
  ]);
  const session = async (address: string): Promise<string> =>
    JSON.parse((await call(side, 'POST', '/session', JSON.stringify({ address }))).text).token;
  const tokens = what === 'plain' ? await Promise.all(addresses.map(session)) : [];
  return {
    what,
    side,
    submit: ({ body }) => call(side, 'POST', '/orders', body),
    cancel: ({ orderHash, body, wallet }) => {
      const name = what === 'plain' ? JSON.parse(body).order.signature.slice(0, 66) : orderHash;
      return call(side, 'POST', '/cancel', JSON.stringify({ orderHash: name }), tokens[wallet]);
    },
  };
}

/** One round: prepared before the clock starts, then as fast as the connections allow. */
async function run(contender: Contender, signer: Signer, mix: Mix, commands: number): Promise<Round> {
  const each = Math.floor(commands / CONNECTIONS);
  const plans = Array.from({ length: CONNECTIONS }, () => plan(contender, signer, mix, each));
  const before = await cpuMicros(contender.side);
  const latenciesMs: number[] = [];
  const connection = async (steps: (typeof plans)[number]): Promise<void> => {
    for (const step of steps) {
      const start = performance.now();
      const { status, text } = await step();
      if (status !== 200) throw new Error(`${contender.what} refused: ${text}`);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(plans.map(connection));
  return {
    commands: latenciesMs.length,
    cpuMicros: (await cpuMicros(contender.side)) - before,
    latenciesMs,
  };
}

/** The commands of one connection; it cancels its own resting orders. */
function plan({ submit, cancel }: Contender, { sign }: Signer, mix: Mix, count: number) {
  const rested: Submission[] = [];
  return Array.from({ length: count }, (_, i) => {
    const what = mix === 'rest' ? 'r' : PATTERN[i % PATTERN.length];
    const known = what === 'c' ? rested.shift() : undefined;
    if (known) return () => cancel(known);
    const submission = what === 'x' ? sign({ outcome: 0, cents: TAKER_CENTS }) : sign();
    if (what !== 'x') rested.push(submission);
    return () => submit(submission);
  });
}

function rowsOf(mix: Mix, results: ReadonlyMap<Contender, readonly Round[]>): SubmitRow[] {
  const figures = [...results].map(([{ what }, rounds]) => {
    const costs = rounds.map((round) => round.cpuMicros / round.commands).sort((a, b) => a - b);
    const latencies = rounds.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
    const at = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? Number.NaN;
    const median = costs[costs.length >> 1] ?? Number.NaN;
    return { what, commands: latencies.length, median, p50: at(0.5), p99: at(0.99) };
  });
  const of = (name: SubmitRow['what']) => figures.find(({ what }) => what === name);
  const [plain, floor] = [of('plain'), of('floor')];
  return figures.map(({ what, commands, median, p50, p99 }) => ({
    suite: 'submit',
    mix,
    what,
    commands,
    cpuMicros: Math.round(median),
    perCpuSecond: Math.round(1e6 / median),
    p50Ms: round2(p50),
    p99Ms: round2(p99),
    timesPlain: plain ? round2(plain.median / median) : null,
    ofFloor: floor ? round2(floor.median / median) : null,
    p99OfFloor: floor ? round2(p99 / floor.p99) : null,
  }));
}

const round2 = (value: number): number => Math.round(100 * value) / 100;
