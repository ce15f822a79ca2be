/** The requests of a benchmark to a process that it has started, and the answers. */
export type Question = 'cpu' | 'memory';

export interface MemoryOf {
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** Answers the parent's questions, and ends when the parent is gone. With --expose-gc the heap is what is still used. */
export function tellParent(ready: object): void {
  process.on('message', (question: Question) => {
    process.send?.(question === 'memory' ? memoryOf() : { cpuMicros: cpuMicros() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(ready);
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function memoryOf(): MemoryOf {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed };
}
