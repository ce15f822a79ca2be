import type { Patch } from '../../../store/fuzzing/scripts';

/** Bugs in the transfers of collateral between shards. */
export const TRANSFERS = {
  markNotCompared: [
    { file: 'take_collateral.lua', from: 'elseif channel.is_later(id, mark) then', to: 'else' },
    { file: 'take_collateral.lua', from: 'elseif before == mark then', to: 'elseif true then' },
  ],
  holdIgnored: [
    { file: 'hold_purse.lua', from: 'if holder and holder ~= ARGV[2] then', to: 'if false then' },
    { file: 'send_collateral.lua', from: 'modes[2] and modes[2] ~= ARGV[5]', to: 'false' },
  ],
  nonceOfTheSender: [
    { file: 'send_collateral.lua', from: 'is_home and nonce or tonumber(ARGV[7])', to: 'nonce' },
  ],
  shardNotNoted: [{ file: 'send_collateral.lua', from: 'if is_home then', to: 'if false then' }],
  shardOfPurseNotNoted: [
    {
      file: 'hold_purse.lua',
      from: 'channel.note_shard(KEYS[2], ARGV[1], tonumber(ARGV[4]))',
      to: "redis.call('HGET', KEYS[2], ARGV[1]) or '', true",
    },
  ],
} satisfies Readonly<Record<string, readonly Patch[]>>;
