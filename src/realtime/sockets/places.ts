import { randomUUID } from 'node:crypto';
import { SOCKET_LIMITS } from '../../wire/limits';
import type { PlaceCounts } from '../messages';

/** Addresses with fewer sockets here are not reported to the other replicas. */
const TOLD_FROM = 10;
/** Changes within this time are sent together. */
const TELL_AFTER_MS = 20;
/** The whole state is sent again, for replicas that are new or missed a message. */
const TELL_ALL_EVERY_MS = 5_000;
/** Silence after which a replica counts as ended, and its sockets with it. */
const FORGET_AFTER_MS = 12_000;
/** A place stays taken after its socket has closed, so that opening and closing sockets does not avoid the limit. */
const REST_MS = 1_000;

export interface Places {
  /** Takes a place for one more socket of an address, and returns its release; null when the address has all its places. */
  take(address: string): (() => void) | null;
  /** The report of another replica about its own sockets. */
  receive(counted: PlaceCounts): void;
  start(): void;
  stop(): Promise<void>;
}

/**
 * Counts the sockets of each address, here and on the other replicas. The counts are in memory and sent through the adapter,
 * so the limit works while Redis is away: each replica then uses its own count and, for a while, the last reports.
 */
export function createPlaces(send: (counted: PlaceCounts) => void): Places {
  const process = randomUUID();
  const own = new Map<string, number>();
  const changed = new Set<string>();
  const others = new Map<string, { counts: Map<string, number>; heardAtMs: number }>();
  let soon: NodeJS.Timeout | undefined;
  let regularly: NodeJS.Timeout | undefined;

  const worthSending = (address: string): number => {
    const count = own.get(address) ?? 0;
    return count >= TOLD_FROM ? count : 0;
  };

  function taken(address: string): number {
    let count = own.get(address) ?? 0;
    for (const [name, { counts, heardAtMs }] of others) {
      if (performance.now() - heardAtMs > FORGET_AFTER_MS) others.delete(name);
      else count += counts.get(address) ?? 0;
    }
    return count;
  }

  function change(address: string, by: 1 | -1): void {
    const before = worthSending(address);
    const count = (own.get(address) ?? 0) + by;
    if (count > 0) own.set(address, count);
    else own.delete(address);
    if (worthSending(address) === before) return;
    changed.add(address);
    soon ??= setTimeout(tellChanges, TELL_AFTER_MS).unref();
  }

  function tellChanges(): void {
    soon = undefined;
    send({ process, whole: false, counts: [...changed].map((address) => [address, worthSending(address)]) });
    changed.clear();
  }

  function tellAll(): void {
    const counts = [...own].filter(([, count]) => count >= TOLD_FROM);
    send({ process, whole: true, counts });
  }

  return {
    take: (address) => {
      if (taken(address) >= SOCKET_LIMITS.perIp) return null;
      change(address, 1);
      return () => void setTimeout(change, REST_MS, address, -1).unref();
    },
    receive: ({ process: name, whole, counts }) => {
      const known = whole ? undefined : others.get(name)?.counts;
      others.set(name, { counts: new Map([...(known ?? []), ...counts]), heardAtMs: performance.now() });
    },
    start: () => {
      regularly = setInterval(tellAll, TELL_ALL_EVERY_MS);
    },
    stop: async () => {
      clearInterval(regularly);
      clearTimeout(soon);
      send({ process, whole: true, counts: [] });
    },
  };
}
