import type { LagGauge } from './lag';
import { CORE_READERS } from './outbox';

/** When a reader of the outbox has more unprocessed entries, new orders are refused (`BACKLOG`, docs/use/interface.md). */
export const BACKLOG_MAX = 100_000;
const EVERY_MS = 500;
/** New orders wait for no reader of an extension. */
const WAITED_FOR: ReadonlySet<string> = new Set(CORE_READERS);

export interface Backlog {
  /** Whether the readers of the outbox were too far behind for new orders at the last check. */
  isTooLong(): boolean;
  start(): void;
  stop(): void;
}

export function watchBacklog(lag: LagGauge, most = BACKLOG_MAX): Backlog {
  let tooLong = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const { readers } = await lag.look();
      tooLong = readers.some(({ reader, unprocessed }) => WAITED_FOR.has(reader) && unprocessed > most);
    } catch {
      // Without Redis no order is booked either, so the last result stays.
    } finally {
      looking = false;
    }
  }

  return {
    isTooLong: () => tooLong,
    start: () => {
      timer = setInterval(() => void look(), EVERY_MS);
      timer.unref();
      void look();
    },
    stop: () => clearInterval(timer),
  };
}
