import { formatMicro, type Micro } from '../../exchange/units';

export interface PortfolioFacts {
  readonly valueMicro: bigint;
  readonly cashMicro: Micro;
  readonly reservedMicro: Micro;
  readonly positionsMicro: bigint;
  readonly pnlMicro: bigint;
  readonly todayMicro: bigint;
  /** Oldest first. */
  readonly history: readonly { readonly atMs: number; readonly valueMicro: bigint }[];
}

/** The body of GET /me/portfolio. */
export const presentPortfolio = (facts: PortfolioFacts) => ({
  value: formatMicro(facts.valueMicro),
  cash: formatMicro(facts.cashMicro),
  reserved: formatMicro(facts.reservedMicro),
  positionsValue: formatMicro(facts.positionsMicro),
  pnl: { total: formatMicro(facts.pnlMicro), today: formatMicro(facts.todayMicro) },
  history: facts.history.map(({ atMs, valueMicro }) => ({
    t: Math.floor(atMs / 1_000),
    value: formatMicro(valueMicro),
  })),
});
