import { findPostgres } from './postgres-programs';
import { tell } from './telling';

export { startPostgres as startTestPostgres, type TestPostgres } from './postgres-server';

const found = findPostgres();
/** `describe`, or what says that its tests are left out where the machine has no PostgreSQL. */
export const describeWithPostgres: jest.Describe = found ? describe : describe.skip;
if (!found) tell('no PostgreSQL on PATH or from npm: the tests of the archive that need one are left out');
