import { createHash } from 'node:crypto';
import type { Durability, DurabilityChecks, DurabilityState } from '../../../store/health/durability';

/** The weakest first. */
const WEAKNESS: readonly Durability[] = ['none', 'unknown', 'everysec', 'always', 'replicated'];
const EPOCH_DIGITS = 16;

const nameOf = (epochs: readonly string[]): string =>
  createHash('sha256').update(epochs.join(' ')).digest('hex').slice(0, EPOCH_DIGITS);

/**
 * The shards as one: as durable as the weakest of them, and with one epoch. It is a digest of all their epochs, so it changes
 * when acknowledged writes of any shard may be missing.
 */
export function durabilityOverShards(parts: readonly DurabilityChecks[]): DurabilityChecks {
  const listeners: ((epoch: string, before: string) => void)[] = [];
  let told: string | null = null;
  let known: { readonly of: readonly DurabilityState[]; readonly whole: DurabilityState } | null = null;

  /** Every answer has the epoch, so the whole is made again only when a shard has another standing. */
  function current(): DurabilityState | null {
    const { of, whole } = known ?? {};
    if (of && parts.every((part, shard) => part.current() === of[shard])) return whole ?? null;
    const all = parts.flatMap((part) => part.current() ?? []);
    if (all.length < parts.length) return null;
    known = { of: all, whole: wholeOf(all) };
    return known.whole;
  }

  function wholeOf(all: readonly DurabilityState[]): DurabilityState {
    const weakest = Math.min(...all.map(({ durability }) => WEAKNESS.indexOf(durability)));
    const others = all.map(({ eviction }) => eviction).filter((eviction) => eviction !== 'noeviction');
    return {
      durability: WEAKNESS[weakest] ?? 'unknown',
      eviction: others.length === 0 ? 'noeviction' : (others[0] ?? null),
      replicaLagBytes: null,
      gap: null,
      epoch: nameOf(all.map(({ epoch }) => epoch)),
      isFirst: all.every(({ isFirst }) => isFirst),
      sinceMs: Math.max(...all.map(({ sinceMs }) => sinceMs)),
      lostMs: Math.max(...all.map(({ lostMs }) => lostMs ?? 0)) || null,
      isCertain: all.every(({ isCertain }) => isCertain),
    };
  }

  /** The shards of one Redis are noticed one after the other, and each changes the epoch. */
  function tell(): void {
    const epoch = current()?.epoch;
    if (epoch === undefined) return;
    const before = told;
    told = epoch;
    if (before !== null && before !== epoch) for (const listener of listeners) listener(epoch, before);
  }
  for (const part of parts) part.onEpoch(tell);

  return {
    current,
    async refresh() {
      await Promise.all(parts.map((part) => part.refresh()));
      tell();
      const standing = current();
      if (!standing) throw new Error('a shard has no standing');
      return standing;
    },
    onEpoch: (listener) => void listeners.push(listener),
    refusedForMs: () => Math.max(...parts.map((part) => part.refusedForMs())),
    doubts: () => parts.reduce((sum, part) => sum + part.doubts(), 0),
    start() {
      for (const part of parts) part.start();
    },
    stop() {
      for (const part of parts) part.stop();
    },
  };
}
