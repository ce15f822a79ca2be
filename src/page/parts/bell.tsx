import type { Activity, Comment } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { learnMarkets, useAccount } from '../account-data';
import { useCell } from '../cell';
import { client } from '../exchange';
import { keep, kept, onKept } from '../local-storage';
import { remembered } from '../market-list-data';
import { isNarrow } from '../narrow';
import { answersTo, type News, newsFrom } from '../news';
import { inPage, linkTo } from '../route';
import { deadlineOf, when } from '../units';
import { Icon } from './icons';
import { Menu } from './menu';
import { Notice } from './notice';

/** Styles in the file of this part: the style sheet belongs to the first view. */
const BODY = {
  width: 'min(380px, calc(100vw - 24px))',
  maxHeight: 'min(480px, calc(100vh - 140px))',
  overflowY: 'auto',
} as const;
const BODY_ON_PHONE = { ...BODY, position: 'fixed', top: '57px', right: '12px' } as const;
const ROW = { display: 'block', overflowWrap: 'anywhere' } as const;
const HEAD = { display: 'block', color: 'var(--muted)', fontSize: '13px' } as const;
const TIME = { color: 'var(--muted)' } as const;
const COUNT = {
  position: 'absolute',
  top: 0,
  right: 0,
  minWidth: '16px',
  padding: '0 4px',
  borderRadius: '8px',
  background: 'var(--no-fill)',
  color: '#fff',
  fontSize: '11px',
  lineHeight: '16px',
} as const;

const LINES = 50;
const COMMENTS = 50;
/** The markets whose comments are read for answers. */
const MARKETS_MAX = 20;
/** The journal has a fill a moment after the balances. */
const JOURNAL_MS = 2_000;
/** No event of the socket announces a comment. */
const COMMENTS_MS = 60_000;

/** The exchange has the news, and this browser stores up to when they were read. */
function useRead(address: string) {
  const name = `read.${address}`;
  const [read, setRead] = useState(() => kept(name));
  useEffect(() => onKept(name, setRead), [name]);
  const setAt = (at: string): void => {
    if (read !== null && at <= read) return;
    keep(name, at);
    setRead(at);
  };
  return [read, setAt] as const;
}

/** The latest news; null until the wallet's orders and journal are known. */
function useNews(address: string): readonly News[] | null {
  const { orders, balances } = useAccount();
  const [lines, setLines] = useState<readonly Activity[] | null>(null);
  const [answers, setAnswers] = useState<readonly Comment[]>([]);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      const { data } = await client.activity({ limit: LINES });
      await learnMarkets(data.flatMap(({ marketId }) => marketId ?? []));
      setLines(data);
    };
    // An exchange without journals has the ends of orders and the answers.
    const timer = setTimeout(
      () => void ask().catch(() => setLines((now) => now ?? [])),
      lines ? JOURNAL_MS : 0,
    );
    return () => clearTimeout(timer);
  }, [balances]);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      const own = await client.myComments({ limit: COMMENTS });
      const ids = [...new Set(own.data.map(({ marketId }) => marketId))].slice(0, MARKETS_MAX);
      await learnMarkets(ids);
      const pages = await Promise.all(ids.map((id) => client.comments(id, { limit: COMMENTS })));
      setAnswers(pages.flatMap(({ data }) => answersTo(address, data)));
    };
    const again = (): void => void ask().catch(() => undefined);
    again();
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), COMMENTS_MS);
    return () => clearInterval(timer);
  }, []);
  return lines && orders && newsFrom(lines, orders, answers);
}

/** The wallet's news, with the number of those that came since it was opened. */
export const Bell = ({ address }: { readonly address: string }) => {
  const news = useNews(address);
  const [read, setRead] = useRead(address);
  const [openedAt, setOpenedAt] = useState('');
  const isOnPhone = useCell(isNarrow);
  const newest = news?.[0]?.at ?? '';
  // What is older than the first visit of this browser is not new.
  useEffect(() => {
    if (news && read === null) setRead(newest);
  }, [news === null]);
  const unread = read === null ? 0 : (news ?? []).filter(({ at }) => at > read).length;
  return (
    <Menu
      label={unread === 0 ? 'News' : `News, ${unread} unread`}
      style={isOnPhone ? BODY_ON_PHONE : BODY}
      icon={
        <>
          <BellIcon />
          {unread > 0 && (
            <span style={COUNT} aria-hidden="true">
              {unread}
            </span>
          )}
        </>
      }
      onOpen={() => {
        setOpenedAt(read ?? '');
        setRead(newest);
      }}
    >
      {(close) =>
        news === null || news.length === 0 ? (
          <Notice title="No news yet">
            Fills and ends of your orders, payouts and answers will appear here.
          </Notice>
        ) : (
          <ul data-testid="news">
            {news.map((one) => (
              <Row key={one.id} news={one} isNew={one.at > openedAt} onGo={close} />
            ))}
          </ul>
        )
      }
    </Menu>
  );
};

interface RowProps {
  readonly news: News;
  readonly isNew: boolean;
  onGo(): void;
}

const Row = ({ news: { marketId, text, at }, isNew, onGo }: RowProps) => {
  const market = remembered(marketId);
  const path = linkTo(market?.slug ?? marketId);
  return (
    <li>
      <a
        class="menu-item"
        style={ROW}
        href={path}
        onClick={(event) => {
          onGo();
          inPage(path)(event);
        }}
      >
        <span style={HEAD} dir="auto">
          {isNew && <strong>New</strong>} {market?.question ?? 'A market'}
        </span>
        <span dir="auto">{text}</span>{' '}
        <time style={TIME} dateTime={at} title={deadlineOf(at)}>
          {when(at)}
        </time>
      </a>
    </li>
  );
};

const BellIcon = () => (
  <Icon>
    <path d="M4 14.5h12l-1.4-2.2V8.6a4.6 4.6 0 0 0-9.2 0v3.7zM8.4 17.2h3.2" />
  </Icon>
);
