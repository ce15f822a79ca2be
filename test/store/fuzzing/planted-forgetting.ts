import type { Job } from './lane';
import type { Patch } from './scripts';

const patch = (file: string, from: string, to: string): Patch => ({ file, from, to });

/** Bugs in what leaves Redis. */
export const FORGETTING: readonly (readonly [name: string, planted: Pick<Job, 'patches' | 'forgetting'>])[] =
  [
    ['everything leaves before the archive has it', { forgetting: 'late' }],
    ...(
      [
        [
          'no order leaves a trace',
          patch(
            'forget_orders.lua',
            'members[#members + 1], m.added[place], m.total = trace, members, m.total + 1',
            'local _ = trace, members',
          ),
        ],
        [
          'a trace goes to another bucket',
          patch(
            'forget_orders.lua',
            'local place = traces.place(traces.number(last, m.factor), m.count, m.span)',
            'local place = m.count',
          ),
        ],
        [
          'the script does not look for the trace of an order',
          patch('lib/known.lua', "redis.call('SISMEMBER', bucket, trace) == 0", 'true'),
        ],
        [
          'an order leaves before its matches',
          patch(
            'forget_orders.lua',
            'not archived_matches.is_before(m.ms, m.sequence, fill_ms, fill_sequence)',
            'true',
          ),
        ],
        [
          'a match leaves before the mark of settlement',
          patch(
            'forget_matches.lua',
            'not archived_matches.is_before(tonumber(settled_ms), tonumber(settled_sequence), ms, sequence)',
            'true',
          ),
        ],
        [
          'a match leaves before it is in the candles',
          patch(
            'forget_matches.lua',
            'not archived_matches.is_before(counted_ms, counted_sequence, ms, sequence)',
            'true',
          ),
        ],
        [
          'the value of what left is not kept',
          patch('forget_matches.lua', 'book.volume_with(sums.volume, lots * price)', 'sums.volume'),
        ],
        [
          'the price of the last match that left is that of another token',
          patch('forget_matches.lua', 'book.yes_price(price, outcome)', 'book.yes_price(price, 1 - outcome)'),
        ],
        [
          'lines that leave are not counted',
          patch('forget_lines.lua', 'orders, first_ms, lines + count)', 'orders, first_ms, lines)'),
        ],
        [
          'the last of the lines that leave stays, too',
          patch('forget_lines.lua', 'integer.text(found[i + 1])', 'integer.text(found[i + 1] - 1)'),
        ],
      ] as const
    ).map(([name, one]) => [name, { patches: [one], forgetting: true }] as const),
  ];
