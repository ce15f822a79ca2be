import type { Patch } from './scripts';

/** A bug to be planted: its name, the text it replaces, anywhere or in one file below lua/, and the new text. */
export type Bug = readonly [name: string, from: string | RegExp, to: string, file?: string];

export const patchOf = ([, from, to, file]: Bug): Patch => ({ from, to, ...(file ? { file } : {}) });

/** Bugs in replacing an order. */
export const REPLACED: readonly Bug[] = (
  [
    [
      'what the old one reserved counts twice',
      '\n  ledger.release(a, 1, old)\n',
      '\n  ledger.release(a, 1, old)\n  ledger.release(a, 1, old)\n',
    ],
    ['what the old one reserved is not free', '\n  ledger.release(a, 1, old)\n', '\n'],
    [
      'the old one stays in the book',
      '      orders.write(q.shard, replaced.book, { replaced.order }, outbox.CANCEL, q.now_ms)\n',
      '',
      'lib/matching.lua',
    ],
    ['the new one meets the old one', ' ~= q.is_bid\n', ' ~= q.is_bid and false\n'],
    ['the first of the other side is the old one', "rank == 0 and '1' or '0'", "'0'"],
    ['an order of anybody', 'old.maker ~= q.maker or', ''],
    ['an order of any market', ' or old.market ~= q.market', ''],
    ['an order that is final', 'old.status > order.PARTIALLY_FILLED', 'false'],
    [
      'a refusal cancels the old one',
      "if reply[1] == 'BOOKED' then\n    reply[4]",
      "if reply[1] ~= 'BOOKED' then\n    orders.write(q.shard, b, { old }, 3, q.now_ms)\n  else\n    reply[4]",
    ],
    ['a dry run is booked', 'if not q.is_dry_run then', 'if true then', 'lib/matching.lua'],
    ['executed twice', 'if stored[1] then', 'if false then'],
    [
      'what the old one reserved is freed twice',
      'ledger.release(a, 1, old)',
      'ledger.release(a, 1, old)\n    ledger.release(a, 1, old)',
      'lib/matching.lua',
    ],
    [
      'the walk stops counting the old one at its place',
      'if at >= skipped then',
      'if at > skipped then',
      'lib/plan.lua',
    ],
    [
      'the walk meets the old one behind others',
      'elseif at + step > skipped then',
      'elseif false then',
      'lib/plan.lua',
    ],
    [
      'the level of the old one as it was',
      'totals[changes[at]] = orders == 0',
      'totals[changes[at]] = packed or orders == 0',
      'lib/book.lua',
    ],
  ] as const
).map(([name, from, to, file]) => [`replacing: ${name}`, from, to, file ?? 'lib/booking.lua']);
