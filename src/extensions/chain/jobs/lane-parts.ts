import type { Rpc } from '../../../chain/rpc';
import type { SettlementKey } from '../../../store/records/settlement';
import type { Preflight } from '../contracts/preflight';
import type { Signer } from '../contracts/signer';
import type { Intents } from '../store/intents';
import type { Candidates } from './candidates';
import type { Spending } from './spending';
import type { Fault, Triager } from './triage';

/** A moment between two steps of a lane; a process may end at each. */
export type Step = 'built' | 'signed' | 'enlisted' | 'sent' | 'priced' | 'raised' | 'used' | 'closed';

/** The parts that the lanes of a process share. */
export interface LaneParts {
  readonly rpc: Pick<Rpc, 'ask' | 'agree' | 'askHealthy' | 'broadcast' | 'quorum'>;
  readonly signer: Signer;
  readonly preflight: Preflight;
  readonly intents: Intents;
  readonly candidates: Candidates;
  /** How many transactions of all lanes are in no block yet. */
  readonly unmined: () => number;
  readonly triage: Triager;
  readonly spending: Pick<Spending, 'add'>;
  /** The number of the last final block that the books have; null before the first. */
  readonly finalBlock: () => Promise<number | null>;
  /** Those of these wallets that have code, as far as the books know. */
  readonly withCode: (wallets: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Books the failure of a settlement that no live transaction holds, as seen at a block. */
  readonly fail: (settlement: SettlementKey, fault: Fault, blockNumber: number) => Promise<unknown>;
  readonly exchange: string;
  readonly chainId: number;
  readonly gasPriceMaxWei: bigint;
  readonly onError: (error: Error) => void;
  /** Only for tests. */
  readonly onStep?: ((step: Step, lane: string) => Promise<void> | void) | undefined;
}
