import type { Activity, Position } from 'ctf-exchange-client';
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
