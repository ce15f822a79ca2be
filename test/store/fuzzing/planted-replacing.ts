import type { Patch } from './scripts';

/** A bug to be planted: its name, the text it replaces, anywhere or in one file below lua/, and the new text. */
export type Bug = readonly [name: string, from: string | RegExp, to: string, file?: string];

export const patchOf = ([, from, to, file]: Bug): Patch => ({ from, to, ...(file ? { file } : {}) });

/** Bugs in replacing an order. */
export const REPLACED: readonly Bug[] = (
  [
    [
      'what the old one reserved counts twice',
      '\nledger.give_back(a, 1, old)\n',
      '\nledger.give_back(a, 1, old)\nledger.give_back(a, 1, old)\n',
    ],
    ['what the old one reserved is not free', '\nledger.give_back(a, 1, old)\n', '\n'],
    [
      'the old one stays in the book',
      '      orders.write(q.shard, old.before, { old.order }, outbox.CANCEL, q.now_ms)\n',
      '',
      'lib/matching.lua',
    ],
    ['the new one meets the old one', ' ~= is_bid\n', ' ~= is_bid and false\n'],
    ['the first of the other side is the old one', "gone == 0 and '1' or '0'", "'0'"],
    ['an order of anybody', 'old.maker ~= maker or', ''],
    ['an order of any market', ' or old.market ~= market', ''],
    ['an order that is final', 'old.status > order.PARTIALLY_FILLED', 'false'],
    [
      'a refusal cancels the old one',
      'if not reply then\n',
      'if not reply then\n  orders.write(shard, before, { old }, outbox.CANCEL, now_ms)\n',
    ],
    ['a dry run is booked', 'if dry_run == 0 then', 'if true then', 'lib/matching.lua'],
    ['executed twice', 'if stored[1] then', 'if false then'],
    [
      'what the old one reserved is freed twice',
      'ledger.give_back(a, 1, old)',
      'ledger.give_back(a, 1, old)\n    ledger.give_back(a, 1, old)',
      'lib/matching.lua',
    ],
    [
      'the walk stops counting the old one at its place',
      'if at >= gone then',
      'if at > gone then',
      'lib/plan.lua',
    ],
    [
      'the walk meets the old one behind others',
      'elseif at + step > gone then',
      'elseif false then',
      'lib/plan.lua',
    ],
    [
      'the level of the old one as it was',
      'known[changes[at]] = orders == 0',
      'known[changes[at]] = packed or orders == 0',
      'lib/book.lua',
    ],
  ] as const
).map(([name, from, to, file]) => [`replacing: ${name}`, from, to, file ?? 'replace_order.lua']);
