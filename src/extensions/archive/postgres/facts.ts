import type { ArchiveFacts } from '../archive';
import type { Connection } from './connection';

interface FactsRow {
  readonly version: string;
  readonly may_create: boolean;
  readonly is_durable: boolean;
  readonly bytes: string;
}

/** PostgreSQL counts 10,000 for each major version. */
const VERSIONS = 10_000;

export async function factsOf({ rows, schema }: Pick<Connection, 'rows' | 'schema'>): Promise<ArchiveFacts> {
  const [found] = await rows<FactsRow>({
    text: `select current_setting('server_version_num') as version,
        coalesce(has_schema_privilege(current_schema(), 'create'),
          $1 and has_database_privilege(current_database(), 'create')) as may_create,
        current_setting('fsync') = 'on' as is_durable,
        pg_database_size(current_database()) as bytes`,
    // The schema of a shard is made with its tables.
    values: [schema !== null],
  });
  if (!found) throw new Error('PostgreSQL says nothing about itself');
  const { version, may_create: mayCreate, is_durable: isDurable, bytes } = found;
  return { mayCreate, isDurable, version: Math.floor(Number(version) / VERSIONS), bytes: Number(bytes) };
}
