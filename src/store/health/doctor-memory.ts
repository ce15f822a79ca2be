import type { Check } from './doctor';
import { type Info, number } from './info';

const SHARE_WARN = 0.75;
export const SHARE_FAIL = 0.9;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
export const share = (part: number): Check['verdict'] =>
  part >= SHARE_FAIL ? 'fail' : part >= SHARE_WARN ? 'warn' : 'ok';

export function memory(info: Info): Check {
  const [used, most] = [number(info, 'used_memory'), number(info, 'maxmemory')];
  if (most === 0) {
    const total = number(info, 'total_system_memory');
    const of = total > 0 ? ` of ${megabytes(total)} in the machine` : '';
    const detail = `${megabytes(used)}${of}, no maxmemory: when memory runs out, the system ends Redis; set a limit, and orders are refused before`;
    const isNearlyFull = total > 0 && share(used / total) === 'fail';
    return { name: 'memory', verdict: isNearlyFull ? 'fail' : 'warn', detail };
  }
  const percent = Math.round((used / most) * 100);
  return {
    name: 'memory',
    verdict: share(used / most),
    detail: `${megabytes(used)}, ${percent} % of maxmemory`,
  };
}

export function writes(info: Info): Check {
  const wrong = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status'].filter(
    (name) => (info.get(name) ?? 'ok') !== 'ok',
  );
  return {
    name: 'writes to disk',
    verdict: wrong.length > 0 ? 'fail' : 'ok',
    detail: wrong.length > 0 ? `the last one failed: ${wrong.join(', ')}` : 'the last ones went well',
  };
}

/** Whether a server runs full, where it has a limit, and can write. */
export const examineFilling = (info: Info): readonly Check[] => [
  ...(number(info, 'maxmemory') > 0 ? [memory(info)] : []),
  writes(info),
];
