import type { Command as Commander } from 'commander';
import { showShards } from './shards';
import { ANY_SHARDS, type Choose } from './store';

/** The commands about the shards of the exchange. */
export function addShards(program: Commander, choose: Choose): void {
  const shards = program.command('shards').description('the shards that the markets are spread over');
  shards
    .command('list')
    .description(
      'list every shard, where it is and what is in it, and the collateral on its way between them',
    )
    .action(() => choose(showShards, ANY_SHARDS));
}
