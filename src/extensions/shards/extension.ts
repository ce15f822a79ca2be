import type { Extension } from '../../app/extensions';
import { addShards } from './cli/commands';

/** Several shards; the exchange over them is still in the core. */
export const SHARDS: Extension = { name: 'shards', variable: 'SHARDS', commands: addShards };
