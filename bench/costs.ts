import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BATCH_ORDERS_MAX } from '../src/wire/requests/orders';
import { median, round } from './figures';
import { openLoad, requestBytes } from './load';
import { createSigner, type Signer } from './signer';
import { type CpuProfile, STAGES, type Stage, timesOf } from './stages';
import { cpuMicros, type Side, startSide, startWeb, stopSides } from './web-process';

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
  readonly floorMicros: number;
}

export interface HotFrame {
  readonly suite: 'costs';
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

interface Contender {
  readonly side: Side;
  /** The requests that bring so many orders. */
  readonly requests: (signer: Signer, orders: number) => Buffer[];
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
  const broadcaster = await startWeb('secp256k1', redisUrl);
  const sides = [broadcaster];
  try {
    const signer = await createSigner(broadcaster);
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
    const ours = await started(startWeb('secp256k1', redisUrl, CONNECTIONS));
    const theirs = await started(floor([]));
    const oursWatched = await started(startWeb('secp256k1', redisUrl, CONNECTIONS, watch(folders[0])));
    const theirsWatched = await started(floor(watch(folders[1])));
    const single = way(ours, oursWatched, singly());
    const batch = way(ours, oursWatched, batched);
    const bare = way(theirs, theirsWatched, singly('/orders'));
    const costs = new Map<Contender, number[]>();
    const windows = new Map<Contender, Window[]>();
    for (let n = -1; n < ROUNDS; n++) {
      for (const contender of [single, batch, bare].flatMap(({ quiet, watched }) => [quiet, watched])) {
        const { micros, window } = await run(contender, signer, n < 0 ? WARM_UP : ORDERS);
        if (n < 0) continue;
        costs.set(contender, [...(costs.get(contender) ?? []), micros]);
        windows.set(contender, [...(windows.get(contender) ?? []), window]);
      }
    }
    stopSides(sides.splice(0));
    const [profile, floorProfile] = await Promise.all(folders.map((folder) => profileIn(folder)));
    if (!profile || !floorProfile) throw new Error('no profile was written');
    const taken = ({ quiet, watched }: Way, from: CpuProfile): Taken => {
      const whole = median(costs.get(quiet) ?? []);
      return { ...partsOf(from, windows.get(watched) ?? []), whole };
    };
    const one = taken(single, profile);
    const twenty = taken(batch, profile);
    const unchecked = taken(bare, floorProfile);
    const micros = ({ stages, whole }: Taken, stage: Stage): number =>
      round(whole * (stages.get(stage) ?? 0), 1);
    for (const stage of STAGES) {
      const part = round(one.stages.get(stage) ?? 0, 3);
      const others = { batchMicros: micros(twenty, stage), floorMicros: micros(unchecked, stage) };
      emit({ suite: 'costs', stage, micros: micros(one, stage), part, ...others });
    }
    const others = { batchMicros: round(twenty.whole, 1), floorMicros: round(unchecked.whole, 1) };
    emit({ suite: 'costs', stage: 'all', micros: round(one.whole, 1), part: 1, ...others });
    const hottest = [...one.frames].sort((a, b) => b[1] - a[1]).slice(0, FRAMES_SHOWN);
    for (const [frame, part] of hottest) tellFrame({ suite: 'costs', frame, part: round(part, 4) });
  } finally {
    stopSides(sides);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

interface Taken {
  readonly stages: ReadonlyMap<Stage, number>;
  readonly frames: ReadonlyMap<string, number>;
  readonly whole: number;
}

/** One way in: at a process without a profiler, and at another with one. */
interface Way {
  readonly quiet: Contender;
  readonly watched: Contender;
}

const way = (quiet: Side, watched: Side, requests: Contender['requests']): Way => ({
  quiet: { side: quiet, requests },
  watched: { side: watched, requests },
});

const singly =
  (path?: string): Contender['requests'] =>
  (signer, orders) =>
    Array.from({ length: orders }, () => {
      const submission = signer.sign();
      return requestBytes(path ?? submission.path, submission.body);
    });

const batched: Contender['requests'] = ({ market, sign }, orders) =>
  Array.from({ length: orders / BATCH_ORDERS_MAX }, () => {
    const bodies = Array.from({ length: BATCH_ORDERS_MAX }, () => sign().body);
    return requestBytes(`/markets/${market.id}/orders/batch`, `{"orders":[${bodies.join(',')}]}`);
  });

async function run({ side, requests: requestsOf }: Contender, signer: Signer, orders: number) {
  const requests = requestsOf(signer, orders);
  const load = await openLoad(side.port, CONNECTIONS);
  const before = await cpuMicros(side);
  const fromMicros = monotonicMicros();
  await load.flood(
    () => requests.pop() ?? null,
    (status, body) => {
      if (status !== 200) throw new Error(body());
    },
  );
  const toMicros = monotonicMicros();
  const micros = ((await cpuMicros(side)) - before) / orders;
  load.stop();
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
