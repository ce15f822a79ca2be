import type { Command as Commander } from 'commander';
import { SURE, wholeNumber } from '../../../cli/arguments';
import { forGood } from '../../../cli/markets';
import type { Choose } from '../../../cli/store';
import { backup, restore, verify } from './backup';

export function addBackup(program: Commander, choose: Choose): void {
  program
    .command('backup <file>')
    .description(
      'copy all data of the exchange as of one moment; needs the mode HALTED, or a replica to copy',
    )
    .option('--halt', 'halt the exchange for it, and give it back its mode')
    .option('--replica <url>', 'copy this replica while the exchange trades on: it stops following for good')
    .option(
      '--keep <number>',
      'then delete the oldest backups of this exchange beside it beyond this number',
      wholeNumber,
    )
    .action((file: string, { halt = false, replica, keep }: BackupFlags) =>
      choose(backup(file, { halt, replica: replica ?? null, keep: keep ?? null })),
    );
  program
    .command('restore <file>')
    .description('check a backup, put it into a Redis without an exchange, and audit it; it stays HALTED')
    .option('--force', 'replace the exchange that is there')
    .option('--verify-only', 'only check the file; needs no Redis')
    .option(
      '--incomplete',
      'also when the archive of ARCHIVE_URL lacks records that left Redis, or is another',
    )
    .option('--yes', `with --force: ${SURE}`)
    .action((file: string, { force = false, verifyOnly = false, incomplete = false, yes = false }) => {
      // Without --force it deletes no existing data.
      const what = `restore ${file} in place of the exchange that is there`;
      const command = forGood(what, yes || !force, restore(file, { force, incomplete }));
      choose(command, { anyData: true, ...(verifyOnly ? { alone: verify(file) } : {}) });
    });
}

interface BackupFlags {
  readonly halt?: boolean;
  readonly replica?: string;
  readonly keep?: number;
}
