import { io, type Socket } from 'socket.io-client';
import { crc32Hex } from '../../src/wire/crc32';

/** The patience of a request on a busy machine. */
const ANSWER_MS = 60_000;

interface Body {
  readonly conditionId: string;
  readonly sequence: number;
  readonly checksum: string;
}
interface Snapshot extends Body {
  readonly bids: readonly { price: string; size: string }[];
  readonly asks: readonly { price: string; size: string }[];
}
export interface Update extends Body {
  readonly type: string;
  readonly previousSequence: number;
  readonly reason: string;
  readonly changes: { bids: [string, string][]; asks: [string, string][] };
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
}

export type BookClient = ReturnType<typeof createBookClient>;

/** Keeps one market's book by the rules of docs/use/real-time.md, and records every violation. */
export function createBookClient(conditionId: string) {
  const sides = { bids: new Map<string, string>(), asks: new Map<string, string>() };
  const faults: string[] = [];
  const heartbeats: { sequence: number; timestamp: number }[] = [];
  const updates: Update[] = [];
  let socket: Socket | null = null;
  let sequence: number | null = null;
  /** `sequence` of the previous update on this connection. */
  let chain: number | null = null;
  const counts = { snapshots: 0, applied: 0, skipped: 0, gaps: 0, resent: 0 };

  const side = (name: 'bids' | 'asks'): [string, string][] =>
    [...sides[name]].sort(([a], [b]) => (name === 'bids' ? Number(b) - Number(a) : Number(a) - Number(b)));

  function checksum(): string {
    const text = (name: 'bids' | 'asks') =>
      side(name)
        .slice(0, 25)
        .map((level) => level.join(':'))
        .join(',');
    return crc32Hex(`${sequence}|b:${text('bids')}|a:${text('asks')}`);
  }

  function onSnapshot(body: Snapshot): void {
    if (body.conditionId !== conditionId) return;
    counts.snapshots++;
    if (chain !== null) counts.resent++;
    for (const name of ['bids', 'asks'] as const) {
      sides[name].clear();
      for (const { price, size } of body[name]) sides[name].set(price, size);
    }
    sequence = body.sequence;
    chain = null;
    if (checksum() !== body.checksum) faults.push(`snapshot ${sequence}: checksum`);
  }

  function onUpdate(body: Update): void {
    if (body.conditionId !== conditionId) return;
    updates.push(body);
    if (sequence === null) faults.push(`update ${body.sequence} before the snapshot`);
    if (body.previousSequence >= body.sequence) faults.push(`update ${body.sequence} goes backward`);
    if (chain !== null && body.previousSequence !== chain) {
      faults.push(`update ${body.previousSequence} -> ${body.sequence} after ${chain}`);
    }
    if (chain === null && body.previousSequence > (sequence ?? 0)) {
      faults.push(`update ${body.previousSequence} -> ${body.sequence} after the book at ${sequence}`);
    }
    chain = body.sequence;
    if (body.sequence <= (sequence ?? 0)) {
      counts.skipped++;
      return;
    }
    for (const name of ['bids', 'asks'] as const) {
      for (const [price, size] of body.changes[name]) {
        if (size === '0') sides[name].delete(price);
        else sides[name].set(price, size);
      }
    }
    sequence = body.sequence;
    counts.applied++;
    if (checksum() !== body.checksum) faults.push(`update ${sequence}: checksum`);
    if ((side('bids')[0]?.[0] ?? null) !== body.bestBid) faults.push(`update ${sequence}: bestBid`);
    if ((side('asks')[0]?.[0] ?? null) !== body.bestAsk) faults.push(`update ${sequence}: bestAsk`);
  }

  /** Connects and subscribes from its own position unless `afresh`. Resolves with the acknowledgement. */
  async function connect(url: string, afresh = false): Promise<{ ok: boolean; subscribed: Body[] }> {
    socket?.disconnect();
    chain = null;
    if (afresh) sequence = null;
    const next = io(url, { transports: ['websocket'], forceNew: true, reconnection: false });
    socket = next;
    next.on('orderbook:snapshot', (body) => next === socket && onSnapshot(body));
    next.on('orderbook:update', (body) => next === socket && onUpdate(body));
    next.on('heartbeat', (body) => {
      if (next !== socket || body.conditionId !== conditionId) return;
      heartbeats.push(body);
      if (body.sequence > (sequence ?? 0)) faults.push(`heartbeat ${body.sequence} at ${sequence}`);
    });
    await new Promise<void>((resolve, reject) => {
      next.once('connect', resolve);
      next.once('connect_error', reject);
    });
    const message = sequence === null ? conditionId : { conditionId, lastSequence: sequence };
    return next.timeout(ANSWER_MS).emitWithAck('subscribe', message);
  }

  return {
    conditionId,
    faults,
    heartbeats,
    updates,
    counts,
    connect,
    connected: () => socket?.connected === true,
    sequence: () => sequence,
    /** As REST shows it. */
    book: () => ({ sequence, checksum: checksum(), bids: side('bids'), asks: side('asks') }),
    socket: () => socket,
    close: () => void socket?.disconnect(),
  };
}

/** The same of an answer of GET /markets/{id}/orderbook. */
export function bookOf(body: Snapshot) {
  const levels = (list: Snapshot['bids']) => list.map(({ price, size }) => [price, size]);
  return {
    sequence: body.sequence,
    checksum: body.checksum,
    bids: levels(body.bids),
    asks: levels(body.asks),
  };
}
