import type { DurabilityChecks } from '../../../store/health/durability';
import type { Health } from '../../../store/health/health';
import type { Layout } from '../../../store/health/layout';

/** The exchange without a shard that does not answer serves the markets of the others; without the first it serves none. */
export function healthOverShards(
  parts: readonly (() => Promise<Health>)[],
  durability: Pick<DurabilityChecks, 'current'>,
): () => Promise<Health> {
  return async () => {
    const asked = await Promise.allSettled(parts.map((part) => part()));
    const [first] = asked;
    if (first?.status !== 'fulfilled') throw first?.reason;
    const found = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const most = (of: (layout: Layout) => number): number =>
      Math.max(...found.map(({ layout }) => of(layout)));
    return {
      redis: true,
      scripts: found.every(({ scripts }) => scripts),
      standing: durability.current() ?? first.value.standing,
      layout: { layout: most(({ layout }) => layout), oldest: most(({ oldest }) => oldest) },
      archive: archiveOf(found),
      problem: found.find(({ problem }) => problem !== null)?.problem ?? null,
      shards: asked.map(({ status }) => status === 'fulfilled'),
    };
  };
}

/** It answers when that of each shard does; null without one. */
const archiveOf = (found: readonly Health[]): boolean | null =>
  found.some(({ archive }) => archive === null) ? null : found.every(({ archive }) => archive);
