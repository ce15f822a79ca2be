import type { Command as Commander } from 'commander';
import { SURE } from '../../../cli/arguments';
import { forGood } from '../../../cli/markets';
import type { Choose } from '../../../cli/store';
import type { ProfileReset } from '../wire/requests';
import { deleteComment, resetProfile, showAccount } from './moderation';

export function addPeople(program: Commander, choose: Choose): void {
  program
    .command('comments')
    .description('comments on markets')
    .command('delete <comment>')
    .description('remove the text of any comment; its place and its replies stay')
    .option('--yes', SURE)
    .action((id: string, { yes = false }: { yes?: boolean }) =>
      choose(forGood(`delete the text of comment ${id}`, yes, deleteComment(id))),
    );
  const profiles = program.command('profiles').description('profiles of wallets');
  for (const [name, muted, what] of [
    ['mute', true, 'hide the comments and the profile of a wallet, and refuse its new comments'],
    ['unmute', false, 'show them again'],
  ] as const)
    profiles
      .command(`${name} <address>`)
      .description(what)
      .action((address: string) => choose(resetProfile(address, { muted })));
  profiles
    .command('reset <address>')
    .description('clear the named parts of a profile, or all of them; a cleared username is free at once')
    .option('--username')
    .option('--bio')
    .option('--avatar')
    .option('--yes', SURE)
    .action((address: string, { yes = false, ...parts }: Parts & { yes?: boolean }) => {
      const body = partsOf(parts);
      const what = `clear ${Object.keys(body).join(', ')} of the profile of ${address}`;
      choose(forGood(what, yes, resetProfile(address, body)));
    });
  program
    .command('accounts')
    .description('wallets')
    .command('show <address>')
    .description(
      'show the profile, first visit, balances, and numbers of positions and open orders of a wallet',
    )
    .action((address: string) => choose(showAccount(address)));
}

interface Parts {
  readonly username?: true;
  readonly bio?: true;
  readonly avatar?: true;
}

function partsOf({ username, bio, avatar }: Parts): ProfileReset {
  const all = !(username || bio || avatar);
  return {
    ...(all || username ? { username: null } : {}),
    ...(all || bio ? { bio: null } : {}),
    ...(all || avatar ? { avatarUrl: null } : {}),
  };
}
