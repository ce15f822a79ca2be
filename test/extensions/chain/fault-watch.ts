import type { Client } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { sleep } from '../../support/waiting';

/** A settlement as the API shows it. */
export interface ShownSettlement {
  readonly id: string;
  readonly status: string;
  readonly transactionHash: string | null;
  readonly blockNumber?: number;
  readonly failureReason?: string;
  readonly failedWallet?: string;
}

const LOOK_MS = 200;
const PAGE = 100;
const OVER: ReadonlySet<string> = new Set(['CONFIRMED', 'FAILED']);

export type SettlementWatch = ReturnType<typeof startWatch>;

/** Notes every status that the API ever shows of each settlement, and what it must never show. */
export function startWatch(client: () => Client, finalBlock: () => Promise<number>) {
  const shown = new Map<string, { last: ShownSettlement; readonly statuses: string[] }>();
  const violations: string[] = [];
  let isOver = false;

  function note(one: ShownSettlement, finalNumber: number): void {
    const known = shown.get(one.id);
    const before = known?.statuses.at(-1);
    if (before !== one.status) {
      if (before !== undefined && OVER.has(before))
        violations.push(`${one.id} was shown as ${before}, and then as ${one.status}`);
      if (one.status === 'CONFIRMED' && (one.blockNumber ?? Number.POSITIVE_INFINITY) > finalNumber)
        violations.push(
          `${one.id} is CONFIRMED in block ${one.blockNumber}, and block ${finalNumber} is final`,
        );
    }
    if (known) {
      known.last = one;
      if (before !== one.status) known.statuses.push(one.status);
    } else shown.set(one.id, { last: one, statuses: [one.status] });
  }

  async function look(): Promise<void> {
    for (let cursor = ''; ; ) {
      const page = await client().get(`/admin/settlements?limit=${PAGE}${cursor}`, { token: ADMIN_TOKEN });
      if (page.status !== 200) return;
      // Read afterwards: what is final stays final.
      const final = await finalBlock();
      for (const one of page.body.data) note(one, final);
      if (page.body.nextCursor === null) return;
      cursor = `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
    }
  }

  async function run(): Promise<void> {
    while (!isOver) {
      // Without Redis there is nothing to see.
      await look().catch(() => undefined);
      await sleep(LOOK_MS);
    }
  }
  const running = run();

  return {
    violations,
    look,
    of: (id: string): ShownSettlement | undefined => shown.get(id)?.last,
    statuses: (id: string): readonly string[] => shown.get(id)?.statuses ?? [],
    all: (): ShownSettlement[] => [...shown.values()].map(({ last }) => last),
    /** Forgets the records, which are lost with their Redis. */
    forget: () => shown.clear(),
    async stop() {
      isOver = true;
      await running;
    },
  };
}
