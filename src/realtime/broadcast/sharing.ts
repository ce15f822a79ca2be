import type { Leadership } from './leadership';

/** A candidate waits this long for each lease that its process has, so that leases go to the processes that have fewer. */
const WAIT_EACH_MS = 200;
const WAIT_MAX_MS = 1_000;
/** The interval in which a process with more than its share lets go of one lease. */
const SHARE_EVERY_MS = 10_000;

interface SharingDeps {
  /** The number of web processes. */
  readonly replicas: () => Promise<number>;
  readonly onError: (error: Error) => void;
}

/** The leases of several outboxes, spread over the web processes. */
export function createSharing({ replicas, onError }: SharingDeps) {
  let all: readonly Leadership[] = [];
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> = Promise.resolve();

  const held = (): Leadership[] => all.filter((one) => one.held() !== null);

  async function share(): Promise<void> {
    const most = Math.ceil(all.length / Math.max(1, await replicas()));
    const mine = held();
    if (mine.length > most) await mine[0]?.giveWay();
  }

  return {
    patienceMs: (): number => Math.min(WAIT_MAX_MS, WAIT_EACH_MS * held().length),
    start(leaderships: readonly Leadership[]): void {
      all = leaderships;
      timer = setInterval(() => {
        underway = share().catch(onError);
      }, SHARE_EVERY_MS);
      timer.unref();
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await underway;
    },
  };
}
