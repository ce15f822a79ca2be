import type { Extension } from '../../app/extensions';
import type { Store } from '../../app/store';
import { addArchive } from './cli/commands';
import { examineArchives } from './examine';
import { archiveShards } from './jobs/archiving';
import { databaseOf, withArchive } from './open';
import { archiveSamples } from './samples';

/** The databases of the partitions; null where none is configured. */
const databasesIn = ({ partitions }: Store) =>
  partitions.map(({ keys, labels, archive }) => ({ keys, labels, archive: databaseOf(archive) }));

/** What is over leaves Redis for PostgreSQL. */
export const ARCHIVE: Extension = {
  name: 'archive',
  variable: 'ARCHIVE_URL',
  wrap: withArchive,
  commands: addArchive,
  examine: (store, silences) =>
    examineArchives(store.config, { ...store, shards: databasesIn(store) }, silences),
  samples: (store) =>
    databasesIn(store).map(
      (shard) => () => archiveSamples({ redis: store.redis, clock: store.clock, ...shard }),
    ),
  worker(store) {
    const shards = databasesIn(store);
    if (shards.every(({ archive }) => archive === null)) return null;
    return archiveShards(store.config, { ...store, shards }, store.log);
  },
};
