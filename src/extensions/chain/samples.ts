import type { SampleSource } from '../../app/extensions';
import type { Store } from '../../app/store';
import type { Rpc } from '../../chain/rpc';
import { MICRO_PER_ONE } from '../../exchange/units';
import type { Sample } from '../../metrics/metrics';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import type { ChainBooks } from './books';
import { readGasMoney, readNonce } from './contracts/transaction';
import type { ObservationState } from './jobs/observation';
import type { Spent } from './jobs/spending';
import type { ChainAccounts, ChainCursor } from './store/accounts';
import { readFailures } from './store/failures';
import { createIntents, LANE_STATES, type Lane } from './store/intents';
import type { ChainRequests } from './store/requests';

/** Metrics of the worker that holds the observer lease; none while it waits for it. */
export const observerSamples = ({ head, reorgedBlocks, reorgDepthMax }: ObservationState): Sample[] =>
  head === null
    ? []
    : [
        { name: 'exchange_chain_reorged_blocks', value: reorgedBlocks },
        { name: 'exchange_chain_reorg_depth_blocks', value: reorgDepthMax },
      ];

const COIN_WEI = 1e18;
const GWEI_WEI = 1e9;

/** Metrics of a worker whose lanes have settled something since it started. */
export const spentSamples = (spent: Spent | null): Sample[] =>
  spent === null
    ? []
    : [
        { name: 'exchange_chain_gas_transactions', value: spent.transactions },
        { name: 'exchange_chain_gas_used', value: Number(spent.gas) },
        { name: 'exchange_chain_gas_paid', value: Number(spent.wei) / COIN_WEI },
        { name: 'exchange_chain_gas_price_gwei', value: Number(spent.priceWei) / GWEI_WEI },
      ];

const unsettledSamples = async (accounts: Pick<ChainAccounts, 'unsettledMicro'>): Promise<Sample[]> => [
  { name: 'exchange_chain_unsettled_value', value: (await accounts.unsettledMicro()) / MICRO_PER_ONE },
];

async function failureSamples(from: Parameters<typeof readFailures>[0]): Promise<Sample[]> {
  const { byReason, strikes } = await readFailures(from);
  return [
    ...Object.entries(byReason).map(
      ([reason, value]): Sample => ({ name: 'exchange_chain_failed', value, labels: { reason } }),
    ),
    { name: 'exchange_chain_strikes', value: strikes },
  ];
}

/** Asks the chain about each lane; none of a lane while the chain is away, so that the other samples are there all the same. */
export async function laneSamples(
  { rpc }: { readonly rpc: Pick<Rpc, 'ask' | 'agree'> },
  lanes: readonly Pick<Lane, 'address' | 'nextNonce'>[],
): Promise<Sample[]> {
  const read = async ({ address, nextNonce }: (typeof lanes)[number]): Promise<Sample[]> => {
    const [money, nonce] = await Promise.all([
      readGasMoney(rpc, address, 'latest'),
      readNonce(rpc, address, 'latest'),
    ]);
    const labels = { lane: address };
    return [
      { name: 'exchange_chain_lane_money', value: Number(money) / COIN_WEI, labels },
      { name: 'exchange_chain_nonce_gap', value: nextNonce - nonce, labels },
    ];
  };
  return (await Promise.all(lanes.map((lane) => read(lane).catch(() => [])))).flat();
}

interface ChainSources {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly rpc: Rpc;
  readonly ledger: Pick<ChainAccounts, 'cursor'>;
  readonly requests: ChainRequests;
}

/** The metrics of every process with funds on a chain. */
export const samplesOnChain = (
  { redis, run, keys, clock }: Store,
  { rpc, ledger, requests }: ChainBooks,
): readonly SampleSource[] => [
  () => chainSamples({ redis, run, keys, clock, rpc, ledger, requests }),
  () => unsettledSamples(ledger),
  () => failureSamples({ redis, keys }),
];

/** How far the chain is followed, and what waits for it. */
async function chainSamples({ clock, rpc, ledger, requests, ...slotKey }: ChainSources): Promise<Sample[]> {
  const intents = createIntents(slotKey);
  const [cursor, lanes, open, opening, results, faucet] = await Promise.all([
    ledger.cursor(),
    intents.lanes(),
    intents.list(),
    requests.opening(),
    requests.wantedResults(),
    requests.thirsty(),
  ]);
  const waiting = { opening: opening.length, result: results.size, faucet: faucet.length };
  return [
    ...(cursor === null ? [] : cursorSamples(cursor, clock.now())),
    ...LANE_STATES.map(
      (state): Sample => ({
        name: 'exchange_chain_lanes',
        value: lanes.filter((lane) => lane.state === state).length,
        labels: { state },
      }),
    ),
    { name: 'exchange_chain_open_transactions', value: open.length },
    {
      name: 'exchange_chain_replacements',
      value: open.reduce((sum, { hashes }) => sum + hashes.length - 1, 0),
    },
    ...(await laneSamples({ rpc }, lanes)),
    ...Object.entries(waiting).map(
      ([what, value]): Sample => ({ name: 'exchange_chain_waiting', value, labels: { what } }),
    ),
    ...rpc.health().flatMap(({ name: node, failures, contradicted, aside }): Sample[] => [
      { name: 'exchange_chain_node_failures', value: failures, labels: { node } },
      { name: 'exchange_chain_node_contradictions', value: contradicted, labels: { node } },
      { name: 'exchange_chain_node_set_aside', value: Number(aside !== null), labels: { node } },
    ]),
  ];
}

const cursorSamples = ({ final, followedMs, head }: ChainCursor, nowMs: number): Sample[] => [
  { name: 'exchange_chain_final_block', value: final.number },
  { name: 'exchange_chain_final_age_seconds', value: Math.max(0, nowMs - followedMs) / 1_000 },
  { name: 'exchange_chain_head_lag_blocks', value: head ? Math.max(0, head.number - final.number) : 0 },
];
