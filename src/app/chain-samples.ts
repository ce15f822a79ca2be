import { readGasMoney, readNonce } from '../chain/transaction';
import { MICRO_PER_ONE } from '../exchange/units';
import type { ObservationState } from '../jobs/chain/observation';
import type { Spent } from '../jobs/chain/spending';
import type { Sample } from '../metrics/metrics';
import type { ChainAccounts } from '../store/chain/accounts';
import { readFailures } from '../store/chain/failures';
import type { Lane } from '../store/chain/intents';
import type { Store } from './store';

/** Of the worker that follows the chain; nothing of one that waits for its lease. */
export const observerSamples = ({ head, reorgedBlocks, reorgDepthMax }: ObservationState): Sample[] =>
  head === null
    ? []
    : [
        { name: 'exchange_chain_reorged_blocks', value: reorgedBlocks },
        { name: 'exchange_chain_reorg_depth_blocks', value: reorgDepthMax },
      ];

const COIN_WEI = 1e18;
const GWEI_WEI = 1e9;

/** Of a worker whose lanes have settled something since it started. */
export const spentSamples = (spent: Spent | null): Sample[] =>
  spent === null
    ? []
    : [
        { name: 'exchange_chain_gas_transactions', value: spent.transactions },
        { name: 'exchange_chain_gas_used', value: Number(spent.gas) },
        { name: 'exchange_chain_gas_paid', value: Number(spent.wei) / COIN_WEI },
        { name: 'exchange_chain_gas_price_gwei', value: Number(spent.priceWei) / GWEI_WEI },
      ];

export const unsettledSamples = async (
  accounts: Pick<ChainAccounts, 'unsettledMicro'>,
): Promise<Sample[]> => [
  { name: 'exchange_chain_unsettled_value', value: (await accounts.unsettledMicro()) / MICRO_PER_ONE },
];

export async function failureSamples(from: Parameters<typeof readFailures>[0]): Promise<Sample[]> {
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
  { rpc }: Pick<NonNullable<Store['books']>, 'rpc'>,
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
