import type { LagGauge, OutboxLag, ReaderLag } from '../../../store/outbox/lag';

/** The outboxes as one: of each reader, the place where it is furthest behind. */
export function lagOverShards(parts: readonly LagGauge[]): LagGauge {
  return {
    async look(): Promise<OutboxLag> {
      const lags = await Promise.all(parts.map((part) => part.look()));
      const readers = new Map<ReaderLag['reader'], ReaderLag>();
      for (const { reader, unprocessed, seconds } of lags.flatMap((lag) => lag.readers)) {
        const known = readers.get(reader);
        readers.set(reader, {
          reader,
          unprocessed: Math.max(unprocessed, known?.unprocessed ?? 0),
          seconds: Math.max(seconds, known?.seconds ?? 0),
        });
      }
      const sumOf = (read: (lag: OutboxLag) => number): number =>
        lags.reduce((sum, lag) => sum + read(lag), 0);
      return {
        length: sumOf(({ length }) => length),
        added: sumOf(({ added }) => added),
        readers: [...readers.values()],
      };
    },
  };
}
