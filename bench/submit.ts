import { median, quantile, round } from './figures';
import { createSigner, type Signer } from './signer';
import { type Size, sizes } from './size';
import {
  type Commands,
  type Mix,
  overSockets,
  type Step,
  single,
  singly,
  WAYS,
  type Way,
  type WayName,
} from './ways';
import { call, cpuMicros, FASTEST, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * Orders at one web process beside the one that broadcasts, 16 connections, everything real, each way in of bench/ways.ts. Two
 * mixes: all orders rest, and 45 % rest, 40 % are cancels, 15 % cross. In turns with it, by the CPU time of the serving
 * process, which other work on the machine disturbs little:
 *   ethers  the same program with `ethers.verifyTypedData` in place of the native verification
 *   plain   the stack one would write first (bench/plain.ts)
 *   floor   Express with one trivial EVALSHA, nothing checked
 */
export interface SubmitRow {
  readonly suite: 'submit';
  readonly mix: Mix;
  readonly what: WayName | 'ethers' | 'plain' | 'floor';
  readonly commands: number;
  /** Figures of one command. */
  readonly cpuMicros: number;
  readonly perCpuSecond: number;
  /** Figures of one request. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * CPU time of the plain stack divided by that of the exchange; the same of the floor, the median of the turns in which both were
   * measured; the p99 of the exchange divided by the floor's.
   */
  readonly timesPlain: number | null;
  readonly ofFloor: number | null;
  readonly p99OfFloor: number | null;
}

const MIXES: readonly Mix[] = ['rest', 'mixed'];
const CONNECTIONS = 16;
const ROUNDS = sizes(1, 5);
/** The turns of the fast ones in a round: short, so that the machine is the same for an order and for one of the floor beside it. */
const TURNS = { fast: 4, slow: 1 } as const;
/** Commands of a turn; fewer for the slow ones. */
const COMMANDS = sizes({ fast: 64, slow: 32 }, { fast: 600, slow: 300 });
/** Warm-up before the first round, until V8 has compiled the hot code, as in a process that has served for a minute. */
const WARM_UP = sizes({ fast: 64, slow: 32 }, { fast: 10_000, slow: 1_000 });
/** The resting orders to be crossed: large enough for every taker of a run. */
const MAKER_LOTS = 100_000_000n;
const MAKER_CENTS = 45;

interface Contender {
  readonly what: SubmitRow['what'];
  readonly side: Side;
  readonly way: Way;
  readonly speed: keyof typeof TURNS;
}

interface Round {
  readonly commands: number;
  readonly cpuMicros: number;
  readonly latenciesMs: readonly number[];
}

/** `redisUrl` is a separate Redis. Rows come as soon as they are known; `deadlineMs` bounds the run. */
export async function benchSubmit(
  redisUrl: string,
  size: Size,
  deadlineMs: number,
  emit: (row: SubmitRow) => void,
): Promise<void> {
  const sides: Side[] = [];
  const started = async (starting: Promise<Side>): Promise<Side> => {
    const side = await starting;
    sides.push(side);
    return side;
  };
  try {
    // The first process becomes the broadcaster; the measured work is that of every replica.
    const signer = await createSigner(await started(startWeb(FASTEST, redisUrl)));
    const tokens = await signer.signIn();
    const ours = await started(startWeb(FASTEST, redisUrl));
    const sockets = await started(startWeb(FASTEST, redisUrl));
    const ethers = await started(startWeb('ethers', redisUrl));
    await call(ours, 'POST', ...rested(signer));
    const contenders: Contender[] = [
      ...WAYS.map(([what, wayOf]): Contender => {
        return { what, side: ours, way: wayOf(ours, signer, tokens), speed: 'fast' };
      }),
      { what: 'socket', side: sockets, way: await overSockets(sockets, signer, tokens), speed: 'fast' },
      { what: 'ethers', side: ethers, way: single(ethers, signer, tokens), speed: 'slow' },
    ];
    for (const what of ['plain', 'floor'] as const) {
      const side = await started(startSide('plain.ts', argumentsOf(what, redisUrl, signer)));
      const way = singly(await commandsOf(what, side, signer), signer);
      await call(side, 'POST', '/orders', rested(signer)[1]);
      contenders.push({ what, side, way, speed: what === 'plain' ? 'slow' : 'fast' });
    }
    for (const mix of MIXES) {
      const results = new Map<Contender, Round[]>(contenders.map((contender) => [contender, []]));
      for (const contender of contenders) await run(contender, mix, WARM_UP[size][contender.speed]);
      for (let round = 0; round < ROUNDS[size] && Date.now() < deadlineMs; round++) {
        for (let turn = 0; turn < TURNS.fast; turn++) {
          const taking = contenders.filter(({ speed }) => turn < TURNS[speed]);
          if (turn % 2 === 1) taking.reverse();
          for (const contender of taking)
            results.get(contender)?.push(await run(contender, mix, COMMANDS[size][contender.speed]));
        }
      }
      for (const row of rowsOf(mix, results)) emit(row);
    }
  } finally {
    stopSides(sides);
  }
}

/** The order to be crossed, as a path and a body. */
function rested({ sign }: Signer): [path: string, body: string] {
  const { path, body } = sign({ outcome: 1, cents: MAKER_CENTS, lots: MAKER_LOTS });
  return [path, body];
}

const argumentsOf = (what: 'plain' | 'floor', url: string, { domain, market }: Signer): string[] => [
  ...[what, url, JSON.stringify(domain)],
  market.outcomes[0]?.tokenId ?? '',
];

async function commandsOf(what: 'plain' | 'floor', side: Side, { addresses }: Signer): Promise<Commands> {
  const session = async (address: string): Promise<string> =>
    JSON.parse((await call(side, 'POST', '/session', JSON.stringify({ address }))).text).token;
  const tokens = what === 'plain' ? await Promise.all(addresses.map(session)) : [];
  return {
    submit: ({ body }) => call(side, 'POST', '/orders', body),
    cancel: ({ orderHash, body, wallet }) => {
      const name = what === 'plain' ? JSON.parse(body).order.signature.slice(0, 66) : orderHash;
      return call(side, 'POST', '/cancel', JSON.stringify({ orderHash: name }), tokens[wallet]);
    },
  };
}

/** One round: prepared before the clock starts, then as fast as the connections allow. */
async function run({ what, side, way }: Contender, mix: Mix, commands: number): Promise<Round> {
  const each = Math.floor(commands / CONNECTIONS);
  const plans = Array.from({ length: CONNECTIONS }, (_, connection) => way(mix, each, connection));
  const before = await cpuMicros(side);
  const latenciesMs: number[] = [];
  const connection = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) {
      const start = performance.now();
      for (const { status, text } of await step.send())
        if (status !== 200) throw new Error(`${what} refused: ${text}`);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(plans.map(connection));
  return {
    commands: plans.flat().reduce((sum, step) => sum + step.commands, 0),
    cpuMicros: (await cpuMicros(side)) - before,
    latenciesMs,
  };
}

function rowsOf(mix: Mix, results: ReadonlyMap<Contender, readonly Round[]>): SubmitRow[] {
  const figures = [...results].map(([{ what, speed }, rounds]) => {
    const costs = rounds.map((round) => round.cpuMicros / round.commands);
    const latenciesMs = rounds.flatMap((round) => round.latenciesMs);
    const commands = rounds.reduce((sum, round) => sum + round.commands, 0);
    const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
    return { what, speed, costs, commands, cost: median(costs), p50, p99 };
  });
  const of = (name: SubmitRow['what']) => figures.find(({ what }) => what === name);
  const [plain, floor] = [of('plain'), of('floor')];
  return figures.map(({ what, speed, costs, commands, cost, p50, p99 }) => {
    const turns = speed === floor?.speed ? costs.map((own, turn) => (floor.costs[turn] ?? 0) / own) : null;
    return {
      suite: 'submit',
      mix,
      what,
      commands,
      cpuMicros: Math.round(cost),
      perCpuSecond: Math.round(1e6 / cost),
      p50Ms: round(p50),
      p99Ms: round(p99),
      timesPlain: plain ? round(plain.cost / cost) : null,
      ofFloor: floor ? round(turns ? median(turns) : floor.cost / cost) : null,
      p99OfFloor: floor ? round(p99 / floor.p99) : null,
    };
  });
}
