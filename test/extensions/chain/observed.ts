import { createBlocks } from '../../../src/chain/blocks';
import type { WalletReading } from '../../../src/exchange/chain';
import { createConversionReader } from '../../../src/extensions/chain/contracts/conversions';
import { createEventReader, type Withdrawal } from '../../../src/extensions/chain/contracts/exchange-events';
import { createWalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import {
  createObservation,
  type Observation,
  type ObservationParts,
} from '../../../src/extensions/chain/jobs/observation';
import { type Nodes, startNodes } from './nodes';
import { type Notebook, openNotebook } from './notebook';
import { type Market, startWorld, type Trader, type World } from './world';

export const MARKET_ID = 'abcd0123';
/** The number of blocks by which the final block is behind the head. */
export const BEHIND = 2;

let sequence = 0;
export const nextName = () => ({ marketId: MARKET_ID, sequence: ++sequence, part: 0 });

export const lower = ({ address }: Trader): string => address.toLowerCase();

/** A chain with the exchange contract, three nodes of it, and an observer with a notebook of its own for each test. */
export interface Observed {
  readonly world: World;
  readonly market: Market;
  readonly nodes: Nodes;
  readonly book: Notebook;
  readonly withdrawn: readonly Withdrawal[];
  readonly observation: Observation;
  /** Another observer, with the same notebook unless another is given. */
  another(more?: Partial<ObservationParts>): Observation;
  mine(count: number): Promise<unknown>;
  /** Makes everything up to now final, and observes it. */
  finalize(): Promise<void>;
  expose(...list: readonly Trader[]): void;
  /** From the last final block, or from these readings. */
  readingOf(trader: Trader, readings?: readonly WalletReading[]): WalletReading | undefined;
}

/** Registers the hooks of the test file; the function that it returns gives the stage of the test that runs. */
export function withObserver(): () => Observed {
  let world: World | undefined;
  let nodes: Nodes | undefined;
  let market: Market;
  let observed: Observed;
  beforeAll(async () => {
    world = await startWorld({ slotsInAnEpoch: 1 });
    market = await world.openMarket('observed');
    nodes = await startNodes(3, world.anvil);
  });
  beforeEach(async () => {
    if (!world || !nodes) throw new Error('there is no chain');
    observed = open(world, market, nodes);
    await observed.mine(BEHIND);
    await observed.observation.stepFinal();
  });
  afterEach(() => nodes?.heal());
  afterAll(async () => {
    await nodes?.stop();
    await world?.stop();
  });
  return () => observed;
}

function open(world: World, market: Market, nodes: Nodes): Observed {
  const book = openNotebook();
  const withdrawn: Withdrawal[] = [];
  const { exchange, collateral, ctf } = world;
  const another = (more: Partial<ObservationParts> = {}): Observation => {
    const rpc = nodes.client();
    return createObservation({
      blocks: createBlocks(rpc, { kind: 'tag' }),
      events: createEventReader(rpc, exchange),
      conversions: createConversionReader(rpc, { exchange, collateral, conditionalTokens: ctf }),
      marketOf: async (conditionId) =>
        conditionId === market.conditionId
          ? { id: MARKET_ID, tokenIds: [String(market.tokens[0]), String(market.tokens[1])] }
          : null,
      wallets: createWalletReader(rpc, { exchange, collateral, conditionalTokens: ctf }),
      ledger: book,
      tokensOf: async () => [String(market.tokens[0]), String(market.tokens[1])],
      recorded: async (names) => names.map(() => null),
      onOther: async () => undefined,
      withdraw: async (list) => void withdrawn.push(...list),
      ...more,
    });
  };
  const observation = another();
  const mine = (count: number): Promise<unknown> => nodes.ask('anvil_mine', `0x${count.toString(16)}`);
  return {
    world,
    market,
    nodes,
    book,
    withdrawn,
    observation,
    another,
    mine,
    async finalize() {
      await mine(BEHIND);
      while (await observation.stepFinal());
    },
    expose: (...list) =>
      book.expose(list.map((trader) => ({ address: lower(trader), marketIds: [MARKET_ID] }))),
    readingOf: (trader, readings = book.blocks.at(-1)?.readings) =>
      readings?.find(({ address }) => address === lower(trader)),
  };
}
