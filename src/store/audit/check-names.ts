import type { Market } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { decodeMarket } from '../records/market';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Findings } from './report';

interface NameChecksOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly findings: Findings;
}

const STEP = 500;

/** Returns the readable documents of the markets, by id; each must belong to the market under whose id it is stored. */
export async function readDocuments(
  { redis, keys, findings }: NameChecksOptions,
  known: Iterable<MarketId>,
): Promise<Map<MarketId, Market>> {
  const documents = new Map<MarketId, Market>();
  const ids = [...known];
  for (let from = 0; from < ids.length; from += STEP) {
    const part = ids.slice(from, from + STEP);
    const found = await redis.hmgetBuffer(keys.markets, ...part);
    for (const [i, marketId] of part.entries()) {
      const market = readMarket(found[i] ?? null);
      const problem =
        market instanceof Error
          ? market.message
          : market.terms.id === marketId
            ? null
            : 'is of another market';
      if (!(market instanceof Error)) documents.set(marketId, market);
      if (problem) findings.add({ kind: 'DOCUMENT', marketId, detail: `the document ${problem}` });
    }
  }
  return documents;
}

function readMarket(document: Buffer | null): Market | Error {
  if (!document) return new Error('is missing');
  try {
    const market = decodeMarket(document);
    const { id, slug, conditionId, tokenIds } = market.terms;
    if (![id, slug, conditionId, ...tokenIds].every((text) => typeof text === 'string')) throw new Error();
    return market;
  } catch {
    return new Error('cannot be read');
  }
}

/** Checks that id, slug and condition id of each market lead to it, and that each name leads to a market that has it. */
export async function checkNames(
  { redis, keys, findings }: NameChecksOptions,
  documents: ReadonlyMap<MarketId, Market>,
): Promise<void> {
  for (const [marketId, { terms }] of documents) {
    const names = [terms.id, terms.slug, terms.conditionId];
    const found = await redis.hmget(keys.marketNames, ...names);
    for (const [i, name] of names.entries()) {
      const at = { kind: 'NAME', marketId, name } as const;
      findings.compare(marketId, found[i] ?? 'none', { ...at, detail: 'the market that the name leads to' });
    }
  }
  const listed = new Set<string>();
  for (let from = 0; ; from += STEP) {
    const part = await redis.lrange(keys.marketList, from, from + STEP - 1);
    for (const marketId of part) listed.add(marketId);
    if (part.length < STEP) break;
  }
  for (const [marketId, { terms }] of documents) {
    if (listed.has(marketId)) continue;
    const detail = 'the list of all markets does not name the market';
    findings.add({ kind: 'NAME', marketId, name: terms.slug, expected: 'named', found: 'not named', detail });
  }
  await checkEvents({ redis, keys, findings }, documents);
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(keys.marketNames, cursor, 'COUNT', STEP);
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const [name, marketId] = [flat[i] as string, flat[i + 1] as string];
      // A market created during the audit has its name first; a market without a name has no document either.
      if (documents.has(marketId) ? isNameOf(name, documents.get(marketId)) : await isNew(marketId)) continue;
      findings.add({
        kind: 'NAME',
        marketId,
        name,
        detail: 'the name leads to a market that does not have it',
      });
    }
    cursor = next;
  } while (cursor !== '0');

  async function isNew(marketId: MarketId): Promise<boolean> {
    return (await redis.hexists(keys.markets, marketId)) === 1;
  }
}

/** Checks that each event has as many markets as it says, and that they carry its title. */
async function checkEvents(
  { redis, keys, findings }: NameChecksOptions,
  documents: ReadonlyMap<MarketId, Market>,
): Promise<void> {
  const counted = new Map<string, { count: number; title: string }>();
  for (const { terms } of documents.values()) {
    if (!terms.event) continue;
    const { slug, title } = terms.event;
    const known = counted.get(slug);
    if (known && known.title !== title) {
      const detail = 'the title of the event, as one of its markets has it';
      findings.add({
        kind: 'NAME',
        marketId: terms.id,
        name: slug,
        expected: known.title,
        found: title,
        detail,
      });
    }
    counted.set(slug, { count: (known?.count ?? 0) + 1, title: known?.title ?? title });
  }
  const stored = await redis.hgetall(keys.events);
  // The event already counts markets that are created during the audit.
  const hasNew = (await redis.hlen(keys.markets)) > documents.size;
  for (const slug of new Set([...counted.keys(), ...Object.keys(stored)])) {
    const { count = 0, title = null } = counted.get(slug) ?? {};
    const found = stored[slug] ?? 'none';
    const [, number, name] = /^(\d+) (.*)$/s.exec(found) ?? [];
    const isSame = (title === null ? hasNew : name === title) && Number(number) === count;
    const isGrown = hasNew && (title === null || name === title) && Number(number) > count;
    if (isSame || isGrown) continue;
    const detail = 'how many markets the event has, and its title';
    findings.add({ kind: 'NAME', name: slug, expected: `${count} ${title ?? ''}`.trim(), found, detail });
  }
}

function isNameOf(name: string, market: Market | undefined): boolean {
  return market !== undefined && Object.values(market.terms).includes(name);
}
