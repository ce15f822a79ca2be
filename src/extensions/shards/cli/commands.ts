import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { SURE } from '../../../cli/arguments';
import { forGood } from '../../../cli/markets';
import type { Choose } from '../../../cli/store';
import { SHARD_COUNTS } from '../../../store/redis/tags';
import { repairShards } from './repair';
import { growExchange, showShards } from './shards';

/** The commands about the shards of the exchange. */
export function addShards(program: Commander, choose: Choose): void {
  const shards = program.command('shards').description('the shards that the markets are spread over');
  shards
    .command('list')
    .description(
      'list every shard, where it is and what is in it, and the collateral on its way between them',
    )
    .action(() => choose(showShards, { anyData: true }));
  shards
    .command('grow')
    .description(
      'give the exchange more shards; needs the mode HALTED and no web or worker process; goes on where it was interrupted',
    )
    .addOption(
      new Option('--to <number>', '2, 4, 8, 16, 32 or 64').argParser(shardCount).makeOptionMandatory(),
    )
    .option('--halt', 'halt the exchange for it, and give it back its mode')
    .option('--yes', SURE)
    .action(({ to, halt = false, yes = false }: { to: number; halt?: boolean; yes?: boolean }) =>
      choose(forGood(`give the exchange ${to} shards`, yes, growExchange(to, halt)), GROWING),
    );
  shards
    .command('repair')
    .description(
      'take back collateral that is there twice because a shard lost what it had sent; needs the mode HALTED',
    )
    .option('--yes', SURE)
    .action(({ yes = false }: { yes?: boolean }) =>
      choose(forGood('debit the wallets that have collateral twice, and the fees', yes, repairShards)),
    );
}

/** Works with any number of shards, but not on data that only a newer program may read. */
const GROWING = { except: 'SHARDS' } as const;

function shardCount(text: string): number {
  const found = SHARD_COUNTS.find((count) => count > 1 && String(count) === text);
  if (found === undefined) throw new InvalidArgumentError('2, 4, 8, 16, 32 or 64.');
  return found;
}
