import type { Patch } from '../../store/fuzzing/scripts';

/** Bugs in the books of positions. */
export const JOURNAL: readonly (readonly [name: string, patch: Patch])[] = [
  ['a stretch booked twice', { file: 'write_journal.lua', from: '~= ARGV[3]', to: '== false' }],
  ['a mark that stays', { file: 'write_journal.lua', from: 'ARGV[2], ARGV[4])', to: 'ARGV[2], ARGV[3])' }],
  [
    'a split told too small',
    { file: 'lib/outbox.lua', from: 'worth, amount, amount)', to: 'worth, amount, amount - 1)' },
  ],
  [
    'a split told at another price',
    { file: 'lib/book.lua', from: 'return (ask - bid) * 5', to: 'return (ask - bid) * 5 + 1' },
  ],
  [
    'a faucet not told',
    { file: 'credit_account.lua', from: 'outbox.FAUCET, amount', to: 'outbox.FAUCET, 0' },
  ],
  ['a grant not told', { file: 'lib/ledger.lua', from: 'outbox.GRANT, a.grant', to: 'outbox.GRANT, 0' }],
  [
    'payouts told the wrong way round',
    { file: 'pay_holders.lua', from: 'outbox.REDEEM, worth, yes, no', to: 'outbox.REDEEM, worth, no, yes' },
  ],
];
