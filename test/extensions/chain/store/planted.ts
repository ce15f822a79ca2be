import type { Patch } from '../../../store/fuzzing/scripts';
import type { FuzzOptions } from './fuzz-run';

const LEDGER = 'lib/ledger.lua';
const patch = (file: string, from: string, to: string): Partial<FuzzOptions> => ({
  patches: [{ file, from, to } satisfies Patch],
});

/** Bugs in the funds of wallets on a chain. */
export const BUGS: readonly (readonly [name: string, bug: Partial<FuzzOptions>])[] = [
  [
    'a match is released before its wallets are read',
    patch(
      'lib/finality.lua',
      'if not cash or cash[ledger.BLOCK] < block or not is_cash and ledger.tokens_block(a, slot) < block then',
      'if false then',
    ),
  ],
  [
    'proceeds of collateral are free at once',
    patch(
      LEDGER,
      'return math.min(balance, cash',
      'balance = balance + cash[ledger.PENDING]\n    return math.min(balance, cash',
    ),
  ],
  [
    'proceeds of tokens are free at once',
    patch(
      LEDGER,
      'reserved = tokens[at + T_HELD], tokens',
      'reserved = tokens[at + T_HELD] + tokens[at + T_PENDING], tokens',
    ),
  ],
  [
    'the cost is held where the contract takes the limit',
    {
      ...patch(LEDGER, 'hold == ledger.BY_LIMIT and', 'hold == false and'),
      hold: 'limit',
    },
  ],
  ['the head is read without the moves of the own contract', { isBlind: true }],
  ['a cap keeps what has left the wallet', patch('lib/caps.lua', 'math.max(amount - taken, 0)', 'amount')],
  ['the head counts for nothing', patch('lib/caps.lua', 'if amount < allowed then', 'if false then')],
  [
    'the allowance is ignored',
    patch(LEDGER, 'return math.min(balance, cash[ledger.ALLOWANCE]), balance', 'return balance, balance'),
  ],
  [
    'the approval of tokens is ignored',
    patch(LEDGER, 'ledger.has(cash[ledger.FLAGS], ledger.APPROVED) and held or 0', 'held'),
  ],
  [
    'a match that has ended stays out',
    patch(LEDGER, 'add(a, slot, leg.asset, 0, -sign * leg.taken, 0)', 'add(a, slot, leg.asset, 0, 0, 0)'),
  ],
  [
    'a match that has ended stays pending',
    patch(LEDGER, 'add(a, slot, leg.got, 0, 0, -sign * leg.brought)', 'add(a, slot, leg.got, 0, 0, 0)'),
  ],
  [
    'a failed match has no consequences',
    patch('lib/finality.lua', 'trust.strike(shard, wallet, e.name, reason, now_ms)', 'local _ = 0'),
  ],
  [
    'the limit counts only the own limit price of an order',
    patch(
      'lib/admission.lua',
      'trust.excess(cash, unsettled_max, required)',
      'trust.excess(cash, unsettled_max, q.size * q.price)',
    ),
  ],
  [
    'a head counts for any final block',
    patch('cap_wallets.lua', 'if not cursor.is_at(shard, ARGV[4]) or', 'if'),
  ],
  [
    'a nonce that was raised on the chain is not noted',
    patch(LEDGER, 'return nonce > before and nonce or nil', 'return nil'),
  ],
  ['exposed wallets are not noted', patch(LEDGER, "redis.call('SADD', shard .. 'xp', unpack(exposed))", '')],
  ['orders without funds stay', patch('lib/unfunded.lua', 'if free >= 0 or', 'if true or')],
];
