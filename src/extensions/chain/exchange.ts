import type { Host } from '../../app/host';
import { checksumAddress } from '../../auth/address';
import type { ChainConfig } from '../../config/chain';
import type { ConfigProblem } from '../../config/report';
import type { Exchange, ExchangeOptions, OpenExchange, Operations } from '../../store/exchange';
import { weaknessOf } from '../../store/health/durability';
import { partAt } from '../../store/lists/list';
import { openEngine, openMarkets, type Partition } from '../../store/partition';
import { type ChainBooks, openBooks } from './books';
import { nodesSetAside } from './nodes';
import { otherFundsOf, otherFundsSeen } from './store/funds';
import { joinWithoutGrant } from './store/joining';
import { CONGESTED } from './store/standstill';

interface ChainExchange extends Exchange {
  readonly books: ChainBooks;
}

const isOnChain = (exchange: Exchange): exchange is ChainExchange => 'books' in exchange;

/** The books of an exchange with funds on a chain; null with paper funds. */
export const booksIn = (exchange: Exchange): ChainBooks | null =>
  isOnChain(exchange) ? exchange.books : null;

/** Opens an exchange whose funds are on a chain with FUNDS=chain, and else one that refuses the data of a chain. */
export function onChain(open: OpenExchange, host: Host): OpenExchange {
  const { chain } = host.config;
  return async (options) => {
    const exchange = chain === null ? await open(options) : await openOnChain(open, options, host, chain);
    return { ...exchange, operations: withFunds(exchange, options) };
  };
}

async function openOnChain(
  open: OpenExchange,
  options: ExchangeOptions,
  { config, log }: Host,
  chain: ChainConfig,
): Promise<ChainExchange> {
  const own: ExchangeOptions = {
    ...options,
    defaultOracle: checksumAddress(chain.oracleAddress),
    // The report to the chain waits, and the result follows it.
    resolveDelayMs: 0,
    nodes: { examine: () => books.nodes.examine(), contradiction: () => books.nodes.contradiction() },
  };
  const paper = await open(own);
  const { keys, marketList } = partAt(paper.partitions, 0);
  const books = openBooks(config, chain, { ...own, keys, marketList, log, reads: paper.reads });
  const { reads, congestion, rpc } = books;
  const engine = books.engine(openEngine({ ...own, placing: books.placing }));
  const markets = openMarkets(own, engine);
  const joining = { ...paper.joining, join: joinWithoutGrant(own.redis, keys, own.clock.now) };
  const { operations } = paper;
  return {
    ...paper,
    books,
    engine,
    reads,
    joining,
    markets: books.markets(markets),
    refreshWallet: books.refresh,
    refusal: () => paper.refusal() ?? (congestion.isTooMuch() ? (['CANCEL_ONLY', CONGESTED] as const) : null),
    facts: { ...paper.facts, chain: books.facts },
    partitions: paper.partitions.map((part): Partition => ({ ...part, engine, reads, joining, markets })),
    operations: {
      ...operations,
      async serve() {
        congestion.start();
        await operations.serve();
      },
      stop() {
        congestion.stop();
        rpc.stop();
        operations.stop();
      },
      watched: async () => [...(await operations.watched()), ...nodesSetAside(rpc)],
    },
  };
}

/** Refuses to work with data that has other funds than FUNDS says. */
function withFunds(
  { operations, durability }: Exchange,
  { config, redis, run, keys }: ExchangeOptions,
): Operations {
  return {
    ...operations,
    async startupProblem() {
      const rowOf = (variable: string, problem: string): ConfigProblem => ({
        variable,
        given: '(hidden)',
        problem,
      });
      const problem = await operations.startupProblem();
      if (problem !== null) return problem;
      const other = await otherFundsOf(config, { redis, run, keys });
      if (other !== null) return rowOf('FUNDS', other);
      if (config.chain === null) return null;
      // A match that Redis forgets may be settled on the chain all the same.
      const weakness = weaknessOf(await durability.refresh());
      return weakness === null ? null : rowOf('REDIS_URL', `${weakness}; FUNDS=chain needs that`);
    },
    dataProblem: async (except) =>
      (await operations.dataProblem(except)) ?? otherFundsSeen(config, { redis, keys }),
  };
}
