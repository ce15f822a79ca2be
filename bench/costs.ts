import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BATCH_ORDERS_MAX } from '../src/wire/requests/orders';
import { median, round } from './figures';
import { openLoad, requestBytes } from './load';
import { openOrderLane } from './order-lane';
import { createSigner, type Signer } from './signer';
import { type CpuProfile, STAGES, type Stage, timesOf } from './stages';
import { cpuMicros, FASTEST, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * The stages of a web process's CPU time for orders: the share of each stage from a CPU profile of one process, scaled to
 * the cost of an order in another process without a profiler. Express with one trivial EVALSHA is measured beside it.
 */
export interface CostRow {
  readonly suite: 'costs';
  readonly stage: Stage | 'all';
  readonly micros: number;
  readonly part: number;
  /** Of an order in a batch of 20. */
  readonly batchMicros: number;
  /** Of an order over a socket. */
  readonly socketMicros: number;
  readonly floorMicros: number;
}

export interface HotFrame {
  readonly suite: 'costs';
  readonly way: WayName;
  readonly frame: string;
  readonly part: number;
}

const ORDERS = 4_000;
/** Warm-up, until V8 has compiled the hot code. */
const WARM_UP = 10_000;
const ROUNDS = 3;
const CONNECTIONS = 16;
const INTERVAL_MICROS = 200;
const FRAMES_SHOWN = 40;

type WayName = 'single' | 'batch' | 'socket' | 'floor';

/** Prepares so many orders before the clock starts. */
type Send = (side: Side, signer: Signer, orders: number) => Promise<{ flood(): Promise<void>; stop(): void }>;

interface Contender {
  readonly side: Side;
  readonly send: Send;
  /** Of an order in each round. */
  readonly costs: number[];
  readonly windows: Window[];
}

interface Window {
  readonly fromMicros: number;
  readonly toMicros: number;
}

export async function benchCosts(
  redisUrl: string,
  emit: (row: CostRow) => void,
  tellFrame: (frame: HotFrame) => void,
): Promise<void> {
  const folders = [mkdtempSync(path.join(tmpdir(), 'bench-')), mkdtempSync(path.join(tmpdir(), 'bench-'))];
  const broadcaster = await startWeb(FASTEST, redisUrl);
  const sides = [broadcaster];
  try {
    const signer = await createSigner(broadcaster);
    const tokens = await signer.signIn();
    const started = async (starting: Promise<Side>): Promise<Side> => {
      const side = await starting;
      sides.push(side);
      return side;
    };
    const floor = (flags: readonly string[]) =>
      startSide('plain.ts', ['floor', redisUrl, '{}', ''], process.env, CONNECTIONS, flags);
    const watch = (folder = ''): string[] => [
      '--cpu-prof',
      `--cpu-prof-dir=${folder}`,
      `--cpu-prof-interval=${INTERVAL_MICROS}`,
    ];
    const ours = [
      await started(startWeb(FASTEST, redisUrl, CONNECTIONS)),
      await started(startWeb(FASTEST, redisUrl, CONNECTIONS, watch(folders[0]))),
    ] as const;
    const theirs = [await started(floor([])), await started(floor(watch(folders[1])))] as const;
    const ways: readonly Way[] = [
      wayOf('single', ours, overHttp(singly())),
      wayOf('batch', ours, overHttp(batched)),
      wayOf('socket', ours, overSockets(tokens)),
      wayOf('floor', theirs, overHttp(singly('/orders'))),
    ];
    for (let n = -1; n < ROUNDS; n++) {
      for (const contender of ways.flatMap(({ quiet, watched }) => [quiet, watched])) {
        const { micros, window } = await run(contender, signer, n < 0 ? WARM_UP : ORDERS);
        if (n < 0) continue;
        contender.costs.push(micros);
        contender.windows.push(window);
      }
    }
    stopSides(sides.splice(0));
    const [profile, floorProfile] = await Promise.all(folders.map((folder) => profileIn(folder)));
    if (!profile || !floorProfile) throw new Error('no profile was written');
    tellAll(
      new Map(ways.map((way) => [way.name, takenOf(way, way.name === 'floor' ? floorProfile : profile)])),
      emit,
      tellFrame,
    );
  } finally {
    stopSides(sides);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

function tellAll(
  taken: ReadonlyMap<WayName, Taken>,
  emit: (row: CostRow) => void,
  tellFrame: (frame: HotFrame) => void,
): void {
  const micros = (way: WayName, stage: CostRow['stage']): number => {
    const { stages, whole = Number.NaN } = taken.get(way) ?? {};
    return round(stage === 'all' ? whole : whole * (stages?.get(stage) ?? 0), 1);
  };
  for (const stage of [...STAGES, 'all'] as const) {
    emit({
      suite: 'costs',
      stage,
      micros: micros('single', stage),
      part: round(stage === 'all' ? 1 : (taken.get('single')?.stages.get(stage) ?? 0), 3),
      batchMicros: micros('batch', stage),
      socketMicros: micros('socket', stage),
      floorMicros: micros('floor', stage),
    });
  }
  for (const [way, { frames }] of taken) {
    const hottest = [...frames].sort((a, b) => b[1] - a[1]).slice(0, FRAMES_SHOWN);
    for (const [frame, part] of hottest) tellFrame({ suite: 'costs', way, frame, part: round(part, 4) });
  }
}

interface Taken {
  readonly stages: ReadonlyMap<Stage, number>;
  readonly frames: ReadonlyMap<string, number>;
  readonly whole: number;
}

const takenOf = ({ quiet, watched }: Way, profile: CpuProfile): Taken => ({
  ...partsOf(profile, watched.windows),
  whole: median(quiet.costs),
});

/** One way in: at a process without a profiler, and at another with one. */
interface Way {
  readonly name: WayName;
  readonly quiet: Contender;
  readonly watched: Contender;
}

function wayOf(name: WayName, [quiet, watched]: readonly [quiet: Side, watched: Side], send: Send): Way {
  const contender = (side: Side): Contender => ({ side, send, costs: [], windows: [] });
  return { name, quiet: contender(quiet), watched: contender(watched) };
}

const overHttp =
  (requestsOf: (signer: Signer, orders: number) => Buffer[]): Send =>
  async ({ port }, signer, orders) => {
    const requests = requestsOf(signer, orders);
    const load = await openLoad(port, CONNECTIONS);
    return {
      flood: () =>
        load.flood(
          () => requests.pop() ?? null,
          (status, body) => {
            if (status !== 200) throw new Error(body());
          },
        ),
      stop: load.stop,
    };
  };

const singly =
  (path?: string) =>
  (signer: Signer, orders: number): Buffer[] =>
    Array.from({ length: orders }, () => {
      const submission = signer.sign();
      return requestBytes(path ?? submission.path, submission.body);
    });

const batched = ({ market, sign }: Signer, orders: number): Buffer[] =>
  Array.from({ length: orders / BATCH_ORDERS_MAX }, () => {
    const bodies = Array.from({ length: BATCH_ORDERS_MAX }, () => sign().body);
    return requestBytes(`/markets/${market.id}/orders/batch`, `{"orders":[${bodies.join(',')}]}`);
  });

/** A socket of each wallet, as many orders under way as over HTTP. They are closed after each round, because they get the events of their wallets. */
const overSockets =
  (tokens: readonly string[]): Send =>
  async ({ port }, { market, sign }, orders) => {
    const submissions = Array.from({ length: orders }, () => sign());
    const lanes = await Promise.all(tokens.map((token) => openOrderLane(port, token)));
    const connection = async (): Promise<void> => {
      for (let next = submissions.pop(); next; next = submissions.pop()) {
        const payload = `{"marketId":"${market.id}",${next.body.slice(1)}`;
        const answer = await lanes[next.wallet]?.send('order:submit', payload);
        if (answer?.status !== 200) throw new Error(answer?.text);
      }
    };
    return {
      flood: async () => {
        await Promise.all(Array.from({ length: CONNECTIONS }, connection));
      },
      stop: () => {
        for (const lane of lanes) lane.stop();
      },
    };
  };

async function run({ side, send }: Contender, signer: Signer, orders: number) {
  const { flood, stop } = await send(side, signer, orders);
  const before = await cpuMicros(side);
  const fromMicros = monotonicMicros();
  await flood();
  const toMicros = monotonicMicros();
  const micros = ((await cpuMicros(side)) - before) / orders;
  stop();
  return { micros, window: { fromMicros, toMicros } };
}

/** The clock that profiles use, too. */
const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

function partsOf(profile: CpuProfile, windows: readonly Window[]) {
  const stages = new Map<Stage, number>();
  const frames = new Map<string, number>();
  for (const { fromMicros, toMicros } of windows) {
    const { times, frameTimes } = timesOf(profile, fromMicros, toMicros);
    for (const [stage, micros] of times) stages.set(stage, (stages.get(stage) ?? 0) + micros);
    for (const [frame, micros] of frameTimes) frames.set(frame, (frames.get(frame) ?? 0) + micros);
  }
  const whole = [...stages.values()].reduce((sum, micros) => sum + micros, 0);
  const parts = <K>(times: ReadonlyMap<K, number>): Map<K, number> =>
    new Map([...times].map(([name, micros]) => [name, micros / whole]));
  return { stages: parts(stages), frames: parts(frames) };
}

const PROFILE_MS_MAX = 30_000;

/** The process writes it when it ends. */
async function profileIn(folder: string): Promise<CpuProfile> {
  for (const start = Date.now(); Date.now() - start < PROFILE_MS_MAX; ) {
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
    if (file) {
      try {
        return JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as CpuProfile;
      } catch {
        // The file is still being written.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('no profile was written in time');
}
