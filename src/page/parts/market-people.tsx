import '../people-words';
import type { Holders, Market, MarketTrade, PublicWallet } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { client } from '../exchange';
import { nameOf } from '../outcome-names';
import { inPage, linkToPerson } from '../route';
import { centsOf, counted, LOTS_ONE, lotsOf, MICRO_ONE, microOf, shortAddress } from '../units';
import { wordsFor } from '../words';
import { Identicon } from './identicon';
import { Moment } from './moment';
import { Notice, Skeleton } from './notice';

const REFRESH_MS = 20_000;
const TRADES_MAX = 50;
const PICTURE = 20;
/** Styles in the file of this part: the style sheet belongs to the first view. */
const ROW = { display: 'flex', justifyContent: 'space-between', gap: '12px', padding: '8px 16px' } as const;
const NAME = { display: 'inline-flex', alignItems: 'center', gap: '4px', verticalAlign: 'bottom' } as const;
const HEAD = { paddingInline: '16px' } as const;
const LIST = { margin: 0, padding: 0, listStyle: 'none' } as const;
const SIDES = { display: 'grid', gridTemplateColumns: 'repeat(auto-fit, minmax(240px, 1fr))' } as const;
const OUTCOMES = [0, 1] as const;

/** The latest answer of a read that is repeated while the page is seen; `failure` says why there is none. */
function useRepeated<T>(key: string, read: () => Promise<T>) {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setValue(null);
    setFailure(null);
    const load = (): void => {
      read().then(
        (found) => {
          if (!isCurrent) return;
          setValue(() => found);
          setFailure(null);
        },
        (error) => isCurrent && setFailure(wordsFor(error).text),
      );
    };
    load();
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [key]);
  return { value, failure };
}

/** A wallet by its name, which leads to its page; a hidden one has none. */
const Person = ({ wallet: { address, username } }: { readonly wallet: PublicWallet }) =>
  address === null ? (
    <span class="hint">A hidden wallet</span>
  ) : (
    <a style={NAME} href={linkToPerson(address)} onClick={inPage(linkToPerson(address))}>
      <Identicon address={address} size={PICTURE} />
      <span>{username ?? shortAddress(address)}</span>
    </a>
  );

/** The latest trades of the market, and who made them. */
const MarketActivity = ({ market }: { readonly market: Market }) => {
  const { value, failure } = useRepeated(market.id, () =>
    client.marketActivity(market.id, { limit: TRADES_MAX }),
  );
  if (!value && failure !== null) return <Notice title="The activity could not be loaded">{failure}</Notice>;
  if (!value) return <Skeleton rows={5} />;
  if (value.data.length === 0)
    return <Notice title="No trades yet">The first trade will appear here.</Notice>;
  return (
    <ul class="orders" data-testid="market-activity">
      {value.data.map((trade) => (
        <ActivityRow key={trade.id} trade={trade} market={market} />
      ))}
    </ul>
  );
};

const ActivityRow = ({ trade, market }: { readonly trade: MarketTrade; readonly market: Market }) => {
  const { taker, maker, side, outcomeIndex, price, size, matchedAt } = trade;
  return (
    <li style={ROW}>
      <span>
        <Person wallet={taker} /> {side === 'BUY' ? 'bought' : 'sold'} {counted(lotsOf(size), 'share')} of{' '}
        <span class={`outcome outcome-${outcomeIndex}`}>{nameOf(market, outcomeIndex)}</span> at{' '}
        {centsOf(price)}, matched by <Person wallet={maker} />
      </span>
      <span class="hint">
        <Moment at={matchedAt} />
      </span>
    </li>
  );
};

/** The largest holders of each outcome. */
const TopHolders = ({ market }: { readonly market: Market }) => {
  const { value, failure } = useRepeated(market.id, () =>
    Promise.all(OUTCOMES.map((outcomeIndex) => client.holders(market.id, { outcomeIndex }))),
  );
  if (!value && failure !== null) return <Notice title="The holders could not be loaded">{failure}</Notice>;
  if (!value) return <Skeleton rows={5} />;
  return (
    <div style={SIDES} data-testid="holders">
      {value.map((holders) => (
        <HolderList
          key={holders.outcomeIndex}
          holders={holders}
          name={nameOf(market, holders.outcomeIndex)}
        />
      ))}
    </div>
  );
};

const HolderList = ({ holders, name }: { readonly holders: Holders; readonly name: string }) => (
  <section aria-label={`Holders of ${name}`}>
    <h3 class="card-subtitle" style={HEAD}>
      <span class={`outcome outcome-${holders.outcomeIndex}`}>{name}</span>{' '}
      <span class="hint">
        {holders.count} {holders.count === 1 ? 'wallet' : 'wallets'}
      </span>
    </h3>
    {holders.data.length === 0 ? (
      <p class="hint" style={ROW}>
        No wallet holds it.
      </p>
    ) : (
      <ol class="orders" style={LIST}>
        {holders.data.map(({ size, ...wallet }, place) => (
          <li key={wallet.address ?? place} style={ROW} data-testid="holder">
            <Person wallet={wallet} />
            <span>{counted((microOf(size) * LOTS_ONE) / MICRO_ONE, 'share')}</span>
          </li>
        ))}
      </ol>
    )}
  </section>
);

interface Props {
  readonly market: Market;
  readonly tab: 'activity' | 'holders';
}

/** Who trades the market, or who holds it. */
export const MarketPeople = ({ market, tab }: Props) =>
  tab === 'activity' ? <MarketActivity market={market} /> : <TopHolders market={market} />;
