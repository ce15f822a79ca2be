import type { Extension } from '../../app/extensions';
import { addChain } from './cli/commands';

/** Funds on a chain; books.ts has what it adds to the processes. */
export const CHAIN: Extension = { name: 'chain', variable: 'FUNDS', commands: addChain };
