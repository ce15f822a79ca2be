import { Refusal } from '../../../exchange/errors';
import { MARKET_STATUSES, type MarketId, type MarketStatus } from '../../../exchange/market';
import { decodeMarket } from '../../../store/records/market';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { type ShardCount, shardOfMarket } from '../../../store/redis/tags';
import { type Lifecycle, notCreated } from '../../../store/verbs/lifecycle';
import type { Directory } from './directory';

interface ListingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly directory: Directory;
  /** The keys of each shard, and its engine. */
  readonly shards: readonly { readonly keys: Keys; readonly engine: Pick<Lifecycle, 'createMarket'> }[];
}

/** Creates markets of an exchange with several shards. */
export interface Listing extends Pick<Lifecycle, 'createMarket'> {
  /**
   * Creates the markets that a process claimed and did not list, because it ended or their shard was away. Rejects after the last of
   * them when one could not be created.
   */
  finish(): Promise<void>;
}

interface Claim {
  readonly id: MarketId;
  readonly claim: Buffer;
}

type NewTerms = Parameters<Lifecycle['createMarket']>[0];

/** Claims in one step of `finish`, and maximum steps of one call. */
const [STEP, STEPS_MAX] = [100, 20];

/**
 * A market is claimed in the first shard, where its names are unique, then created in its own, and then listed in the first. Each step
 * can be repeated, so a market whose creation ended early is finished by the next request for it and by `finish`.
 */
export function createListing({ redis, run, directory, shards }: ListingOptions): Listing {
  const { keys: first } = shards[0] as (typeof shards)[number];
  const count = directory.count as ShardCount;

  async function createMarket(market: NewTerms, document: string, status: MarketStatus): Promise<void> {
    const { id, conditionId, slug, event } = market;
    const [code, detail] = await run(
      'claim_market',
      [first.allNames, first.marketShards, first.claims, first.allEvents],
      [
        ...([id, document, conditionId, slug, MARKET_STATUSES.indexOf(status)] as const),
        ...([shardOfMarket(market, count), event?.slug ?? '', event?.title ?? ''] as const),
      ],
    );
    const text = code.toString();
    if (text !== 'OK' && text !== 'CLAIMED') throw notCreated(text, detail?.toString() ?? '', slug);
    const claim = text === 'OK' ? Buffer.from(`${MARKET_STATUSES.indexOf(status)}${document}`) : detail;
    await complete(id, claim as Buffer);
    if (text === 'CLAIMED' && !isSame(document, documentOf(claim as Buffer)))
      throw notCreated('TAKEN', conditionId, slug);
  }

  async function complete(id: MarketId, claim: Buffer): Promise<void> {
    const { keys, engine } = shards[await directory.shardOf(id)] as (typeof shards)[number];
    const isThere = async (): Promise<boolean> => (await redis.hexists(keys.markets, id)) === 1;
    if (!(await isThere())) {
      const document = documentOf(claim);
      const status = MARKET_STATUSES[Number(claim.subarray(0, 1))] as MarketStatus;
      const { terms } = decodeMarket(document);
      await engine.createMarket(terms, document.toString(), status).catch(async (error: unknown) => {
        // Its names are taken, because another process created it meanwhile.
        if (!(error instanceof Refusal) || !(await isThere())) throw error;
      });
    }
    await run('list_market', [first.claims, first.allMarkets], [id]);
  }

  async function finish(): Promise<void> {
    const failures: unknown[] = [];
    const away = new Set<number | null>();

    /** Those of one shard, one after the other. When it does not answer, the others of it wait for the next turn. */
    async function completeAll(shard: number | null, claims: readonly Claim[]): Promise<void> {
      for (const { id, claim } of claims) {
        if (away.has(shard)) return;
        await complete(id, claim).catch((error: unknown) => {
          failures.push(error);
          if (!(error instanceof Refusal)) away.add(shard);
        });
      }
    }

    for (let step = 0, cursor = '0'; step < STEPS_MAX; step++) {
      const [next, flat] = await redis.hscanBuffer(first.claims, cursor, 'COUNT', STEP);
      const ofShards = new Map<number | null, Claim[]>();
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const one = { id: String(flat[i]), claim: flat[i + 1] as Buffer };
        const shard = await directory.find(one.id);
        ofShards.set(shard, [...(ofShards.get(shard) ?? []), one]);
      }
      // A shard that is away must not hold up the markets of the others.
      await Promise.all([...ofShards].map(([shard, claims]) => completeAll(shard, claims)));
      cursor = next.toString();
      if (cursor === '0') break;
    }
    if (failures.length > 0) throw failures[0];
  }

  return { createMarket, finish };
}

const documentOf = (claim: Buffer): Buffer => claim.subarray(1);

/** Whether two requests ask for the same market; they have different times. */
function isSame(document: string, claimed: Buffer): boolean {
  const timeless = (bytes: Buffer): string => {
    const { terms, texts } = decodeMarket(bytes);
    const { createdAtMs: _, ...rest } = terms;
    return JSON.stringify([rest, texts]);
  };
  return timeless(Buffer.from(document)) === timeless(claimed);
}
