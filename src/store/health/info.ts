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

/** 0 for a missing line. */
export const number = (info: Info, name: string): number => Number(info.get(name) ?? 0);
