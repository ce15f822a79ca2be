import type { Redis } from 'ioredis';

/** Returns the lines of INFO by name. */
export type Info = ReadonlyMap<string, string>;

export async function infoOf(server: Redis): Promise<Info> {
  const lines = String(await server.info()).split(/\r?\n/);
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf(':');
      return at > 0 && !line.startsWith('#') ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

/** The bytes of the stream of writes that each replica which follows does not have yet, the fewest first. */
export function replicaLagsOf(info: Info): number[] {
  const sent = number(info, 'master_repl_offset');
  const lags = [...info].flatMap(([name, text]) => {
    const offset = /^slave\d+$/.test(name) && /state=online,offset=(\d+)/.exec(text)?.[1];
    return offset ? [Math.max(0, sent - Number(offset))] : [];
  });
  return lags.sort((a, b) => a - b);
}

/** 0 for a missing line. */
export const number = (info: Info, name: string): number => Number(info.get(name) ?? 0);
