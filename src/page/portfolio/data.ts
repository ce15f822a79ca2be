import type { Activity, Page, Position } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { client } from '../exchange';
import { remember, remembered } from '../market-list-data';

const ROWS = 100;
const REFRESH_MS = 15_000;

/** The wallet's journal; null until it is known. */
export interface Journal {
  readonly closed: readonly Position[];
  readonly activity: readonly Activity[];
  readonly nextCursor: string | null;
  more(): void;
}

async function learn(ids: readonly (string | null)[]): Promise<void> {
  const unknown = [...new Set(ids)].filter((id): id is string => id !== null && !remembered(id));
  const found = await Promise.all(unknown.map((id) => client.market(id).catch(() => null)));
  remember(found.filter((market) => market !== null));
}

/** The lines of a file, and those of each request for them. */
export const FILE_LINES_MAX = 20_000;
const FILE_PAGE = 200;

/** All lines of the wallet's journal, oldest first, at most FILE_LINES_MAX. */
export async function wholeJournal(): Promise<Activity[]> {
  const lines: Activity[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Activity> = await client.activity({ order: 'asc', limit: FILE_PAGE, cursor });
    lines.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null && lines.length < FILE_LINES_MAX);
  await learn(lines.map(({ marketId }) => marketId));
  return lines;
}

/** Read again after each event of the wallet, and at intervals. */
export function useJournal(): Journal | null {
  const wallet = useWallet();
  const { balances } = useAccount();
  const [journal, setJournal] = useState<Omit<Journal, 'more'> | null>(null);
  useEffect(() => {
    if (!wallet) return setJournal(null);
    let isCurrent = true;
    const ask = async (): Promise<void> => {
      const [closed, activity] = await Promise.all([
        client.positions({ status: 'closed', limit: ROWS }),
        client.activity({ limit: ROWS }),
      ]);
      await learn([...closed.data, ...activity.data].map(({ marketId }) => marketId));
      if (isCurrent)
        setJournal({ closed: closed.data, activity: activity.data, nextCursor: activity.nextCursor });
    };
    const again = (): void => void ask().catch(() => undefined);
    again();
    const timer = setInterval(again, REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [wallet?.address, balances]);
  if (!journal) return null;
  const more = (): void =>
    void client.activity({ limit: ROWS, cursor: journal.nextCursor }).then(
      async ({ data, nextCursor }) => {
        await learn(data.map(({ marketId }) => marketId));
        setJournal({ ...journal, activity: [...journal.activity, ...data], nextCursor });
      },
      () => undefined,
    );
  return { ...journal, more };
}
