import type { BlockRef } from '../../../exchange/chain';
import type { SettledLots } from '../../../exchange/facts';
import { lots, type Micro, micro } from '../../../exchange/units';
import { CAP, CHAIN_CASH, CHAIN_TOKENS, SETTLED_LOTS } from '../../../store/records/layout';
import { addressBytes, hashBytes, hashHex } from '../../../store/records/order';
import { type Strikes, unpackStrikes } from '../../../store/records/strikes';
import { readFields } from '../../../store/redis/fields';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { APPROVED, HAS_CODE } from './readings';

/** How far the books have followed the chain. */
export interface ChainCursor {
  readonly final: BlockRef;
  /** When the final block was noted, by Redis' clock. */
  readonly finalNotedMs: number;
  /** That time, or the newest block's own if it is earlier. When it is 30 s ago no order is accepted (src/extensions/chain/lua/lib/cursor.lua). */
  readonly followedMs: number;
  readonly head: BlockRef | null;
  readonly headNotedMs: number | null;
}

/** One asset of a wallet, in micro-units. free = min(held, cap) - reserved - out, and may be below zero. */
export interface ChainAsset {
  /** The amount in the wallet; `heldMicro` is the part of it that the wallet lets the exchange take. */
  readonly balanceMicro: Micro;
  readonly heldMicro: Micro;
  /** A lower amount in a block that is not final; null without one. */
  readonly capMicro: Micro | null;
  readonly reservedMicro: Micro;
  /** Taken by matches that are not final, and brought by them. */
  readonly outMicro: Micro;
  readonly pendingMicro: Micro;
  readonly freeMicro: Micro;
}

export interface ChainAccount {
  /** The final block of the collateral, the approvals and the nonce; tokens may be of an earlier one. */
  readonly asOfBlock: number;
  readonly nonce: number;
  readonly hasCode: boolean;
  readonly approvedForAll: boolean;
  readonly allowanceMicro: Micro;
  readonly collateral: ChainAsset;
  /** Yes, then No. */
  readonly tokens: readonly {
    readonly marketId: string;
    readonly assets: readonly [ChainAsset, ChainAsset];
  }[];
  /** The value of matches that are not final, and of all that were settled. */
  readonly unsettledMicro: Micro;
  readonly settledMicro: Micro;
  /** The tokens of all markets that open orders need. */
  readonly restingMicro: Micro;
  /** Also those that are forgotten or over; null when there never was one. */
  readonly strikes: Strikes | null;
}

/** A wallet of which something is promised: its collateral is to be read at every block, with its tokens of these markets. */
export interface ExposedWallet {
  readonly address: string;
  readonly marketIds: readonly string[];
}

export interface ChainAccounts {
  /** Null before the first final block. */
  cursor(): Promise<ChainCursor | null>;
  /** Every wallet of which something is promised. */
  exposed(): Promise<readonly ExposedWallet[]>;
  /** The value of matches that are not final, added up over all wallets. */
  unsettledMicro(): Promise<number>;
  /** The account of a wallet; null when it was never read. */
  chainAccount(address: string): Promise<ChainAccount | null>;
  /** Those of these wallets that have code, as far as the books know. */
  withCode(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /** By order hash: how much of each order the chain has settled, and how much its failed matches had. Only where it is not 0. */
  settledLots(orderHashes: readonly string[]): Promise<ReadonlyMap<string, SettledLots>>;
}

const PAGE = 1_000;
const ADDRESS_BYTES = 20;
const OUTCOMES = ['0', '1'] as const;

type Amounts = Pick<ChainAsset, 'balanceMicro' | 'heldMicro' | 'reservedMicro' | 'outMicro' | 'pendingMicro'>;

export function createChainAccounts({
  redis,
  run,
  keys,
}: {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}): ChainAccounts {
  async function cursor(): Promise<ChainCursor | null> {
    const found = await redis.hgetallBuffer(keys.cursor);
    const final = blockOf(found, 'final');
    if (!final) return null;
    const head = blockOf(found, 'head');
    const finalNotedMs = Number(found.finalNotedMs);
    return {
      final,
      finalNotedMs,
      followedMs: Math.min(finalNotedMs, Math.max(final.timeMs, head?.timeMs ?? 0)),
      head,
      headNotedMs: head && Number(found.headNotedMs),
    };
  }

  async function withCode(addresses: readonly string[]): Promise<ReadonlySet<string>> {
    const names = [...new Set(addresses)];
    if (names.length === 0) return new Set();
    const found = await redis.hmgetBuffer(keys.cash, ...names.map(addressBytes));
    return new Set(names.filter((_, i) => found[i] && isContract(CHAIN_CASH.read(found[i] as Buffer))));
  }

  async function exposed(): Promise<readonly ExposedWallet[]> {
    const markets = new Map<string, Set<string>>();
    let place = '0';
    do {
      const [next, members] = await redis.sscanBuffer(keys.exposed, place, 'COUNT', PAGE);
      place = next.toString();
      for (const member of members) {
        const address = hashHex(member.subarray(0, ADDRESS_BYTES));
        const own = markets.get(address) ?? new Set();
        markets.set(address, own);
        if (member.length > ADDRESS_BYTES) own.add(member.toString('latin1', ADDRESS_BYTES));
      }
    } while (place !== '0');
    return [...markets].map(([address, ids]) => ({ address, marketIds: [...ids] }));
  }

  async function unsettledMicro(): Promise<number> {
    const wallets = (await exposed()).map(({ address }) => addressBytes(address));
    const packed = await readFields(redis, keys.cash, wallets);
    return packed.reduce((sum, one) => sum + (one ? CHAIN_CASH.read(one).unsettledMicro : 0), 0);
  }

  async function chainAccount(address: string): Promise<ChainAccount | null> {
    const raw = addressBytes(address);
    const [packed, ...held] = await run('read_balances', [keys.cash, keys.holdings(raw)], [keys.prefix, raw]);
    if (packed.length === 0) return null;
    const fields = [
      raw,
      ...held.flatMap(([id]) => OUTCOMES.map((n) => Buffer.concat([raw, id, Buffer.from(n)]))),
    ];
    const [caps, strikes] = await Promise.all([
      redis.hmgetBuffer(keys.caps, ...fields),
      redis.hgetBuffer(keys.strikes, raw),
    ]);
    const capAt = (i: number): number | null => (caps[i] ? CAP.read(caps[i] as Buffer).amountMicro : null);
    const cash = CHAIN_CASH.read(packed);
    const approvedForAll = (cash.flags & APPROVED) !== 0;
    const { balanceMicro, reservedMicro, outMicro, pendingMicro } = cash;
    return {
      asOfBlock: cash.block,
      nonce: cash.nonce,
      hasCode: isContract(cash),
      approvedForAll,
      allowanceMicro: micro(cash.allowanceMicro),
      collateral: assetOf(
        {
          balanceMicro,
          heldMicro: Math.min(balanceMicro, cash.allowanceMicro),
          reservedMicro,
          outMicro,
          pendingMicro,
        },
        capAt(0),
      ),
      tokens: held.map(([id, tokens], i) => ({
        marketId: id.toString('latin1'),
        assets: tokensOf(tokens, approvedForAll, [capAt(2 * i + 1), capAt(2 * i + 2)]),
      })),
      unsettledMicro: micro(cash.unsettledMicro),
      settledMicro: micro(cash.settledMicro),
      restingMicro: micro(cash.restingMicro),
      strikes: strikes && unpackStrikes(strikes),
    };
  }

  async function settledLots(orderHashes: readonly string[]): Promise<ReadonlyMap<string, SettledLots>> {
    const packed = await readFields(redis, keys.settledLots, orderHashes.map(hashBytes));
    const found = new Map<string, SettledLots>();
    for (const [i, hash] of orderHashes.entries()) {
      const record = packed[i];
      if (!record) continue;
      const read = SETTLED_LOTS.read(record);
      found.set(hash, { settledLots: lots(read.settledLots), failedLots: lots(read.failedLots) });
    }
    return found;
  }

  return { cursor, exposed, unsettledMicro, chainAccount, withCode, settledLots };
}

const isContract = ({ flags }: { readonly flags: number }): boolean => (flags & HAS_CODE) !== 0;

function blockOf(found: Readonly<Record<string, Buffer>>, name: 'final' | 'head'): BlockRef | null {
  const [number, hash, timeMs] = [found[name], found[`${name}Hash`], found[`${name}Ms`]];
  return number && hash ? { number: Number(number), hash: hashHex(hash), timeMs: Number(timeMs) } : null;
}

function tokensOf(
  packed: Buffer,
  isApproved: boolean,
  caps: readonly [number | null, number | null],
): readonly [ChainAsset, ChainAsset] {
  const read = CHAIN_TOKENS.read(packed);
  const asset = (held: number, reserved: number, out: number, pending: number, cap: number | null) =>
    assetOf(
      {
        balanceMicro: held,
        heldMicro: isApproved ? held : 0,
        reservedMicro: reserved,
        outMicro: out,
        pendingMicro: pending,
      },
      cap,
    );
  return [
    asset(read.yesHeld, read.yesReserved, read.yesOut, read.yesPending, caps[0]),
    asset(read.noHeld, read.noReserved, read.noOut, read.noPending, caps[1]),
  ];
}

function assetOf(amounts: Readonly<Record<keyof Amounts, number>>, cap: number | null): ChainAsset {
  const { balanceMicro, heldMicro, reservedMicro, outMicro, pendingMicro } = amounts;
  return {
    balanceMicro: micro(balanceMicro),
    heldMicro: micro(heldMicro),
    outMicro: micro(outMicro),
    reservedMicro: micro(reservedMicro),
    pendingMicro: micro(pendingMicro),
    capMicro: cap === null ? null : micro(cap),
    freeMicro: micro(Math.min(heldMicro, cap ?? heldMicro) - reservedMicro - outMicro),
  };
}
