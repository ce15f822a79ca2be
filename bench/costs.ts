import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
  readonly path: (target: string) => string;
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
    const contend = (side: Side, to: (target: string) => string): Contender => {
      sides.push(side);
      return { side, path: to };
    };
    const same = (target: string): string => target;
    const floor = (flags: readonly string[]) =>
      startSide('plain.ts', ['floor', redisUrl, '{}', ''], process.env, CONNECTIONS, flags);
    const watch = (folder = ''): string[] => [
      '--cpu-prof',
      `--cpu-prof-dir=${folder}`,
      `--cpu-prof-interval=${INTERVAL_MICROS}`,
    ];
    const ours = contend(await startWeb('secp256k1', redisUrl, CONNECTIONS), same);
    const theirs = contend(await floor([]), () => '/orders');
    const oursWatched = contend(await startWeb('secp256k1', redisUrl, CONNECTIONS, watch(folders[0])), same);
    const theirsWatched = contend(await floor(watch(folders[1])), () => '/orders');
    const costs = new Map<Contender, number[]>();
    const windows = new Map<Contender, Window[]>();
    for (let n = -1; n < ROUNDS; n++) {
      for (const contender of [ours, theirs, oursWatched, theirsWatched]) {
        const { micros, window } = await run(contender, signer, n < 0 ? WARM_UP : ORDERS);
        if (n < 0) continue;
        costs.set(contender, [...(costs.get(contender) ?? []), micros]);
        windows.set(contender, [...(windows.get(contender) ?? []), window]);
      }
    }
    stopSides(sides.splice(0));
    const [profile, floorProfile] = await Promise.all(folders.map((folder) => profileIn(folder)));
    if (!profile || !floorProfile) throw new Error('no profile was written');
    const of = (one: CpuProfile, watched: Contender) => partsOf(one, windows.get(watched) ?? []);
    const [parts, floorParts] = [of(profile, oursWatched), of(floorProfile, theirsWatched)];
    const [whole, floorWhole] = [median(costs.get(ours) ?? []), median(costs.get(theirs) ?? [])];
    for (const stage of STAGES) {
      const part = parts.stages.get(stage) ?? 0;
      const floorMicros = round(floorWhole * (floorParts.stages.get(stage) ?? 0), 1);
      emit({ suite: 'costs', stage, micros: round(whole * part, 1), part: round(part, 3), floorMicros });
    }
    emit({
      suite: 'costs',
      stage: 'all',
      micros: round(whole, 1),
      part: 1,
      floorMicros: round(floorWhole, 1),
    });
    const hottest = [...parts.frames].sort((a, b) => b[1] - a[1]).slice(0, FRAMES_SHOWN);
    for (const [frame, part] of hottest) tellFrame({ suite: 'costs', frame, part: round(part, 4) });
  } finally {
    stopSides(sides);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function run({ side, path: to }: Contender, signer: Signer, orders: number) {
  const requests = Array.from({ length: orders }, () => {
    const { path: target, body } = signer.sign();
    return requestBytes(to(target), body);
  });
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
