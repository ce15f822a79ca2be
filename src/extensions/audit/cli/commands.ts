import type { Command as Commander } from 'commander';
import type { Choose } from '../../../cli/store';
import { timed } from '../../../cli/timed';
import { audit } from './audit';

export function addAudit(program: Commander, choose: Choose): void {
  program
    .command('audit')
    .description('recompute everything from the orders and name what differs; safe while the exchange trades')
    .option('--archive', 'with the records that left Redis for PostgreSQL')
    .action(({ archive }) => choose(timed('audit', audit(archive === true))));
}
