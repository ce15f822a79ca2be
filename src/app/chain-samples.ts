import { MICRO_PER_ONE } from '../exchange/units';
import type { ObservationState } from '../jobs/chain/observation';
import type { Sample } from '../metrics/metrics';
import type { ChainAccounts } from '../store/chain/accounts';

/** Of the worker that follows the chain; nothing of one that waits for its lease. */
export const observerSamples = ({ head, reorgedBlocks, reorgDepthMax }: ObservationState): Sample[] =>
  head === null
    ? []
    : [
        { name: 'exchange_chain_reorged_blocks', value: reorgedBlocks },
        { name: 'exchange_chain_reorg_depth_blocks', value: reorgDepthMax },
      ];

export const unsettledSamples = async (
  accounts: Pick<ChainAccounts, 'unsettledMicro'>,
): Promise<Sample[]> => [
  { name: 'exchange_chain_unsettled_value', value: (await accounts.unsettledMicro()) / MICRO_PER_ONE },
];
