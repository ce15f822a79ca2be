import type { Extension } from '../../app/extensions';
import { addBackup } from './cli/commands';

/** Copies all data of the exchange into a file, and back. */
export const BACKUP: Extension = { name: 'backup', commands: addBackup };
