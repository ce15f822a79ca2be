import { type Block, type Blocks, OtherChain } from '../../../chain/blocks';
import type { BlockRef } from '../../../exchange/chain';
import type { Conversion, ConversionReader } from '../contracts/conversions';
import type { EventReader, ExchangeEvents } from '../contracts/exchange-events';

export type Happened = ExchangeEvents & { readonly number: number };

/** The way from one final block to a newer one, and the blocks with events on it. */
export interface Stretch {
  readonly to: BlockRef;
  readonly happened: readonly Happened[];
  readonly conversions: readonly Conversion[];
}

/** A block's gas pays for about a thousand; after a long absence the first ones get lines in the journals of their wallets. */
const CONVERSIONS_MAX = 5_000;
/** Blocks whose events are asked for at the same time. */
const AT_ONCE = 128;

export async function eventsIn(events: EventReader, blocks: readonly Block[]): Promise<Happened[]> {
  const found: Happened[] = [];
  for (let from = 0; from < blocks.length; from += AT_ONCE) {
    const some = blocks.slice(from, from + AT_ONCE);
    const read = some.map(async (block) => ({ number: block.number, ...(await events.at(block)) }));
    found.push(...(await Promise.all(read)));
  }
  return found;
}

async function conversionsIn(reader: ConversionReader, blocks: readonly Block[]): Promise<Conversion[]> {
  const found: Conversion[] = [];
  for (let from = 0; from < blocks.length; from += AT_ONCE)
    found.push(
      ...(await Promise.all(blocks.slice(from, from + AT_ONCE).map((block) => reader.at(block)))).flat(),
    );
  return found;
}

const isEventful = ({ settled, failed, moves, withdrawals }: Happened): boolean =>
  settled.length + failed.length + moves.length + withdrawals.length > 0;

/**
 * Gathers what happened after a final block. However long the way is, it becomes one step of the ledger: nodes forget the states
 * of older blocks, so wallets are read at the end of the way, and without the settlements that led there they would seem to
 * lack funds. After a long absence each call goes a part of the way, so that the lease is renewed in between, the end is a block
 * of that moment, and an error costs a part.
 */
export function createGathering(blocks: Blocks, events: EventReader, conversions: ConversionReader) {
  let way: {
    readonly from: string;
    to: BlockRef;
    readonly happened: Happened[];
    readonly conversions: Conversion[];
  } | null = null;

  /** Null while the way goes on. Throws OtherChain. */
  async function gather(from: BlockRef, newest: Block): Promise<Stretch | null> {
    if (way?.from !== from.hash) way = { from: from.hash, to: from, happened: [], conversions: [] };
    const steps = await blocks.between(way.to, newest);
    const [found, converted] = await Promise.all([
      eventsIn(events, steps),
      conversionsIn(conversions, steps),
    ]);
    way.happened.push(...found.filter(isEventful));
    way.conversions.push(...converted.slice(0, CONVERSIONS_MAX - way.conversions.length));
    way.to = steps.at(-1) ?? way.to;
    return way.to.number < newest.number ? null : way;
  }

  return {
    gather: (from: BlockRef, newest: Block): Promise<Stretch | null> =>
      gather(from, newest).catch((error: unknown) => {
        // Blocks that were gathered may be those that are no more.
        if (error instanceof OtherChain) way = null;
        throw error;
      }),
  };
}
