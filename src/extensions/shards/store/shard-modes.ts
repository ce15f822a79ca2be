import { Refusal } from '../../../exchange/errors';
import { MODES, type Mode } from '../../../exchange/status';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Lifecycle } from '../../../store/verbs/lifecycle';
import { askAll } from './ask-all';

interface ShardModesOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
  readonly parts: readonly Pick<Lifecycle, 'setMode'>[];
}

export interface ModesReport {
  /** The shards whose mode differed from that of the first, and has it now. */
  readonly changed: readonly number[];
  /** The shards that did not answer; they keep their mode until this is called again. */
  readonly silent: readonly number[];
}

export interface ShardModes extends Pick<Lifecycle, 'setMode'> {
  /**
   * Brings the mode of the first shard, which is the intended one, to every shard that differs, as one that was away may. A worker
   * calls it before anything else.
   */
  enforceMode(): Promise<ModesReport>;
}

interface Standing {
  readonly mode: Mode;
  readonly message: string | null;
}

/** The most times that the modes are compared again, while operators change them. */
const TURNS_MAX = 8;
const NORMAL_CODE = '0';

/** The mode over several shards: the first has the intended one. */
export function createShardModes({ redis, shards, parts }: ShardModesOptions): ShardModes {
  const [intended, ...followers] = [...shards.keys()];

  async function read(shard: number): Promise<Standing> {
    const { mode, notice } = shards[shard] as Keys;
    const [code, told] = await redis.mget(mode, notice);
    const found = code ?? NORMAL_CODE;
    // A message with the code of another mode is old (lua/set_mode.lua).
    const message = told?.startsWith(found) ? told.slice(found.length) : null;
    return { mode: MODES[Number(found)] ?? 'NORMAL', message: message || null };
  }

  const write = (shard: number, { mode, message }: Standing): Promise<void> =>
    (parts[shard] as (typeof parts)[0]).setMode(mode, message);

  /**
   * The intended mode is read last, so a shard that an operator has just set does not seem to differ. After its writes it compares
   * again: the mode that it wrote may have been replaced meanwhile.
   */
  async function spread(to: readonly number[]): Promise<ModesReport> {
    const changed = new Set<number>();
    let asked = to;
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      const { done } = await askAll(asked, read);
      asked = [...done.keys()];
      const wanted = await read(intended as number);
      const different = asked.filter((shard) => !isSame(done.get(shard) as Standing, wanted));
      if (different.length === 0) break;
      const written = await askAll(different, (shard) => write(shard, wanted));
      asked = asked.filter((shard) => !written.failed.has(shard));
      for (const shard of written.done.keys()) changed.add(shard);
    }
    return { changed: [...changed], silent: followers.filter((shard) => !asked.includes(shard)) };
  }

  async function setMode(mode: Mode, message: string | null = null): Promise<void> {
    await write(intended as number, { mode, message });
    const { done } = await askAll(followers, (shard) => write(shard, { mode, message }));
    const { silent } = await spread([...done.keys()]);
    if (silent.length === 0) return;
    const names = silent.join(', ');
    throw new Refusal(
      'UNAVAILABLE',
      `the mode is ${mode}, except in shards that are silent (${names}): the worker sets it there when they are back`,
      { mode, silent },
    );
  }

  return { setMode, enforceMode: () => spread(followers) };
}

const isSame = (a: Standing, b: Standing): boolean => a.mode === b.mode && a.message === b.message;
