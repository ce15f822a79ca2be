import { type Command as Commander, Option } from 'commander';
import { address } from '../../../cli/arguments';
import type { Choose } from '../../../cli/store';
import { rebuildJournal } from './journal';

export function addPortfolio(program: Commander, choose: Choose): void {
  program
    .command('journal')
    .description("the wallets' positions and activity")
    .command('rebuild')
    .description(
      'put them right from matches, payouts and the moves they name; safe while the exchange trades',
    )
    .addOption(new Option('--from <address>', 'go on from this wallet').argParser(address).default('0x'))
    .action(({ from }: { from: string }) => choose(rebuildJournal(from)));
}
