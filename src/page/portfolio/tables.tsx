import type { Position } from 'ctf-exchange-client';
import { type Holding, wholeLots, worthOf } from '../holdings';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { CloseButton } from '../parts/close-position';
import { Notice } from '../parts/notice';
import { inPage, linkTo } from '../route';
import {
  aboutPips,
  centsOf,
  dollars,
  microOf,
  PIPS_ONE,
  percent,
  pipsOf,
  shares,
  signedDollars,
} from '../units';
import { gainsByMarket, type MarketGain } from './gains';

const toneOf = (micro: number | null): string =>
  micro === null || micro === 0 ? '' : micro > 0 ? 'up' : 'down';

/** The question, as a link to its market. */
export const MarketLink = ({ marketId }: { readonly marketId: string }) => {
  const market = remembered(marketId);
  if (!market) return <span>A market</span>;
  return (
    <a href={linkTo(market.slug)} onClick={inPage(linkTo(market.slug))}>
      {market.question}
    </a>
  );
};

/** On a phone a row is a card, and each cell has its label. */
const Cell = ({
  name,
  children,
  tone = '',
}: {
  name: string;
  children: preact.ComponentChildren;
  tone?: string;
}) => (
  <td data-name={name} class={tone}>
    {children}
  </td>
);

interface TableProps {
  /** The column without a name has the button that closes a position. */
  readonly columns: readonly string[];
  readonly children: preact.ComponentChildren;
}

const Table = ({ columns, children }: TableProps) => (
  <table class="table">
    <thead>
      <tr>
        {columns.map((name) => (
          <th key={name} scope="col">
            {name || <span class="hidden">Close</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

export const Positions = ({ held }: { readonly held: readonly Holding[] }) => {
  if (held.length === 0)
    return <Notice title="No positions yet">Shares that you buy will appear here.</Notice>;
  return (
    <Table columns={['Market', 'Shares', 'Average', 'Now', 'Value', 'Gain', 'Pays if it wins', '']}>
      {held.map((one) => (
        <PositionRow key={one.tokenId} held={one} />
      ))}
    </Table>
  );
};

const PositionRow = ({ held }: { readonly held: Holding }) => {
  const { marketId, outcomeIndex, micro, cost } = held;
  const market = remembered(marketId);
  const value = worthOf(held);
  const gain = cost?.unrealizedPnl == null ? null : microOf(cost.unrealizedPnl);
  const price = market?.outcomes[outcomeIndex]?.price ?? null;
  return (
    <tr data-testid="position" data-token-id={held.tokenId}>
      <td class="table-market">
        <MarketLink marketId={marketId} />
      </td>
      <Cell name="Shares">
        <span class={`outcome outcome-${outcomeIndex}`}>
          {shares(wholeLots(micro))} {nameOf(market, outcomeIndex)}
        </span>
      </Cell>
      <Cell name="Average">{cost?.averagePrice == null ? '–' : centsOf(cost.averagePrice)}</Cell>
      <Cell name="Now">
        {price === null ? '–' : percent(aboutPips(price), pipsOf(market?.tickSize ?? '0.01'))}
      </Cell>
      <Cell name="Value">{value === null ? '–' : dollars(value)}</Cell>
      <Cell name="Gain" tone={toneOf(gain)}>
        {gain === null ? '–' : signedDollars(gain)}
      </Cell>
      <Cell name="Pays if it wins">{dollars(wholeLots(micro) * PIPS_ONE)}</Cell>
      <td>
        <CloseButton held={held} />
      </td>
    </tr>
  );
};

/** What each market gained, sold and held, with the sum of all. */
export const Gains = ({ positions }: { readonly positions: readonly Position[] }) => {
  const gains = gainsByMarket(positions);
  if (gains.length === 0)
    return <Notice title="No gains yet">What each market earned you will appear here.</Notice>;
  const sum = gains.reduce((total, { realized, unrealized }) => ({
    marketId: '',
    realized: total.realized + realized,
    unrealized: total.unrealized === null || unrealized === null ? null : total.unrealized + unrealized,
  }));
  return (
    <Table columns={['Market', 'Realized', 'Unrealized', 'Gain']}>
      {gains.map((gain) => (
        <tr key={gain.marketId} data-testid="gain">
          <td class="table-market">
            <MarketLink marketId={gain.marketId} />
          </td>
          <GainCells {...gain} />
        </tr>
      ))}
      <tr data-testid="gain-sum">
        <td class="table-market">
          <strong>All markets</strong>
        </td>
        <GainCells {...sum} />
      </tr>
    </Table>
  );
};

const GainCells = ({ realized, unrealized }: Omit<MarketGain, 'marketId'>) => (
  <>
    {(
      [
        ['Realized', realized],
        ['Unrealized', unrealized],
        ['Gain', unrealized === null ? null : realized + unrealized],
      ] as const
    ).map(([name, value]) => (
      <Cell key={name} name={name} tone={toneOf(value)}>
        {value === null ? '–' : signedDollars(value)}
      </Cell>
    ))}
  </>
);

export const Closed = ({ closed }: { readonly closed: readonly Position[] }) => {
  if (closed.length === 0)
    return <Notice title="Nothing closed yet">What you sell or are paid for will appear here.</Notice>;
  return (
    <Table columns={['Market', 'Outcome', 'Result', 'Gain']}>
      {closed.map(({ tokenId, marketId, outcomeIndex, realizedPnl }) => (
        <tr key={tokenId} data-testid="closed">
          <td class="table-market">
            <MarketLink marketId={marketId} />
          </td>
          <Cell name="Outcome">
            <span class={`outcome outcome-${outcomeIndex}`}>
              {nameOf(remembered(marketId), outcomeIndex)}
            </span>
          </Cell>
          <Cell name="Result">{resultWord(marketId, outcomeIndex)}</Cell>
          <Cell name="Gain" tone={toneOf(microOf(realizedPnl))}>
            {signedDollars(microOf(realizedPnl))}
          </Cell>
        </tr>
      ))}
    </Table>
  );
};

function resultWord(marketId: string, outcomeIndex: 0 | 1): string {
  const resolution = remembered(marketId)?.resolution;
  if (!resolution) return 'Sold';
  if (resolution.outcomeIndex === null) return 'Void';
  return resolution.outcomeIndex === outcomeIndex ? 'Won' : 'Lost';
}
