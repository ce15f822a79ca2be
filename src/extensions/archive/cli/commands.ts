import type { Command as Commander } from 'commander';
import type { Choose } from '../../../cli/store';
import { archiveBackfill, archiveStatus, archiveVerify } from './archive';

export function addArchive(program: Commander, choose: Choose): void {
  const archive = program.command('archive').description('the records that left Redis for PostgreSQL');
  archive
    .command('status')
    .description('show how far the archive is, and how much is in it')
    .action(() => choose(archiveStatus));
  archive
    .command('verify')
    .description(
      'read the whole archive and name what differs in it and from Redis; safe while the exchange trades',
    )
    .action(() => choose(archiveVerify));
  archive
    .command('backfill')
    .description('have the worker go over everything again, however old')
    .action(() => choose(archiveBackfill));
}
