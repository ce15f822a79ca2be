import type { Extension } from '../../app/extensions';
import { addArchive } from './cli/commands';

/** What is over leaves Redis for PostgreSQL; open.ts has what it adds to the processes. */
export const ARCHIVE: Extension = { name: 'archive', variable: 'ARCHIVE_URL', commands: addArchive };
