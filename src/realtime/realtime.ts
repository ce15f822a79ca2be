import type { Server } from 'node:http';
import type { Sessions } from '../auth/sessions';
import type { Config } from '../config/load';
import type { Logger } from '../log';
import type { Exchange } from '../store/exchange';
import type { DurabilityChecks } from '../store/health/durability';
import { EVENTS, presentEpoch } from '../wire/answers/events';
import { ORDER_EVENTS } from '../wire/requests/order-entry';
import { createCatchUp } from './feed/catch-up';
import { countSubscriptions, createMarketFeed, type MarketFeed, roomOf } from './feed/market-feed';
import { createSnapshots } from './feed/snapshots';
import { createSubscriber } from './feed/subscriber';
import { BETWEEN, type FeedMessage, listedChanges } from './messages';
import { leadOutboxes, outboxOf } from './outboxes';
import { createAllowances, noAllowances } from './sockets/allowances';
import { createAudience } from './sockets/audience';
import type { Callers } from './sockets/callers';
import { createExchangeState } from './sockets/exchange-state';
import { createServer } from './sockets/gateway';
import { takeMessages } from './sockets/intake';
import { createLinks, type Links } from './sockets/links';
import { createOrderEntry, type OrderEntry, type PerformOrder, refuseForm } from './sockets/order-entry';
import { createPlaces } from './sockets/places';
import { createRenew } from './sockets/renew';
import { repeat } from './sockets/repeat';
import { serveRequests } from './sockets/requests';
import { createSessionWatch, type SessionWatch } from './sockets/session-watch';
import { createSlowSocketGuard } from './sockets/slow-sockets';
import { closeSockets, type ExchangeServer } from './sockets/sockets';
import { serveUpgrades } from './sockets/upgrades';
import { serveWallets, type WalletSockets } from './wallets';

/** What the sockets need of the exchange and of the web process. */
export interface RealtimeDeps
  extends Pick<Exchange, 'broadcasts' | 'accounts' | 'reads' | 'history' | 'partitions'> {
  readonly durability: Pick<DurabilityChecks, 'doubts' | 'current' | 'refresh'>;
  readonly config: Pick<
    Config,
    'redisUrls' | 'redisTlsCa' | 'replicas' | 'broadcastIntervalMs' | 'rateLimit' | 'corsOrigins'
  >;
  readonly log: Logger;
  readonly sessions: Sessions;
  /** Identifies the owner of a session or of an API key. */
  readonly isLive: (sid: string) => Promise<boolean>;
}

export interface Realtime {
  /** Closes the sockets of an ended session on every replica. */
  endSession(sid: string): void;
  /** Accepts connections of this server from now on. */
  attach(server: Server, callers: Callers, performOrder: PerformOrder): void;
  start(): void;
  /** Lets another process broadcast, then closes all sockets; those left after `graceMs` are cut. */
  stop(graceMs: number): Promise<void>;
  /** Notifies every socket of this process that the history of the data was broken. */
  newEpoch(epoch: string): void;
  /** Sends the mode that this process has set to the sockets of every replica. */
  modeChanged(): void;
  /** The number of web processes, as reported by the adapter. */
  replicas(): Promise<number>;
  /** Gauges of the metrics. */
  stats(): { readonly sockets: number; readonly subscriptions: number; readonly broadcasting: number };
}

const HEARTBEAT_EVERY_MS = 5_000;
/** The grace for closing: a peer that reads answers at once. */
const CLOSE_MAX_MS = 1_000;

const createHeart = (feed: MarketFeed, log: Logger) =>
  repeat(HEARTBEAT_EVERY_MS, feed.heartbeat, (error) => log.warn({ err: error.message }, 'no heartbeat'));

interface SocketParts {
  readonly wallets: Pick<WalletSockets, 'serve'>;
  /** Null before a server is attached. */
  readonly orders: () => Pick<OrderEntry, 'serve'> | null;
  readonly watch: Pick<SessionWatch, 'watch'>;
  readonly subscriber: ReturnType<typeof createSubscriber>;
  readonly renew: ReturnType<typeof createRenew>;
  readonly log: Logger;
}

/** Every socket receives its wallet's events, is watched, and may send these messages. */
function serveSockets(
  io: ExchangeServer,
  { wallets, orders, watch, subscriber, renew, log }: SocketParts,
): void {
  io.on('connection', (socket) => {
    wallets.serve(socket);
    orders()?.serve(socket);
    watch.watch(socket);
    serveRequests(socket, {
      handlers: {
        [EVENTS.subscribe]: subscriber.subscribe,
        [EVENTS.unsubscribe]: subscriber.unsubscribe,
        [EVENTS.renew]: renew,
        ...Object.fromEntries(ORDER_EVENTS.map((event) => [event, refuseForm])),
      },
      log,
    });
  });
}

/** Sends messages to this process's sockets, and to the replicas with sockets in the rooms of their markets. */
function createMessageEmitter(io: ExchangeServer, feed: Pick<MarketFeed, 'receive' | 'list'>) {
  return (messages: readonly FeedMessage[]): void => {
    const changes = listedChanges(messages);
    if (changes.length > 0) {
      feed.list(changes);
      io.serverSideEmit(BETWEEN.listed, changes);
    }
    feed.receive(messages);
    const markets = new Map<string, FeedMessage[]>();
    for (const message of messages) {
      const room = roomOf(message.marketId);
      const ofMarket = markets.get(room) ?? [];
      markets.set(room, ofMarket);
      ofMarket.push(message);
    }
    for (const [room, ofMarket] of markets) io.serverSideEmit(BETWEEN.feed, room, ofMarket);
  };
}

interface Hearing {
  readonly links: Pick<Links, 'onBack' | 'onHearing'>;
  readonly feed: Pick<MarketFeed, 'receive' | 'list' | 'hearing'>;
  readonly wallets: Pick<WalletSockets, 'hearing'>;
  readonly lookAgain: () => void;
  readonly broadcasting: { tryNow(): void };
  readonly places: Pick<ReturnType<typeof createPlaces>, 'receive'>;
  readonly watch: Pick<SessionWatch, 'end'>;
}

/** The messages of the other replicas. */
function hearReplicas(io: ExchangeServer, { links, feed, wallets, lookAgain, ...parts }: Hearing): void {
  const { broadcasting, places, watch } = parts;
  links.onBack(lookAgain);
  links.onHearing((room) => {
    for (const each of [feed, wallets]) each.hearing(room);
  });
  io.on(BETWEEN.feed, (_room, messages) => feed.receive(messages));
  io.on(BETWEEN.listed, feed.list);
  io.on(BETWEEN.catchUp, lookAgain);
  io.on(BETWEEN.leaseFree, broadcasting.tryNow);
  io.on(BETWEEN.places, places.receive);
  io.on(BETWEEN.sessionOver, (sid) => watch.end(sid));
}

/** Everything that sockets send and receive: docs/use/real-time.md. */
export function createRealtime(deps: RealtimeDeps): Realtime {
  const { config, log, broadcasts, reads, sessions } = deps;
  const outboxes = deps.partitions.map(outboxOf);
  // The connection for commands logs the same failure as a warning.
  const onError = (error: Error): void => log.debug({ err: error.message }, 'redis');
  const links = createLinks({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    replicas: config.replicas,
    severalOutboxes: outboxes.length > 1,
    onError,
  });
  let open = true;
  let orders: OrderEntry | null = null;
  const io = createServer(links.adapter);
  const audience = createAudience(io);

  const snapshots = createSnapshots({ broadcasts, reads, doubts: deps.durability.doubts });
  const feed = createMarketFeed({ broadcasts, reads, snapshots, log, ...audience });
  let allowances = noAllowances;
  const subscriber = createSubscriber({
    ...deps,
    feed,
    snapshots,
    charge: (socket, messages) => allowances.charge(socket, messages),
  });
  const places = createPlaces((counts) => io.serverSideEmit(BETWEEN.places, counts));
  const watch = createSessionWatch({ io, isLive: deps.isLive, now: reads.clock, log });
  const renew = createRenew({ sessions, watch });
  const emit = createMessageEmitter(io, feed);
  const replicas = () => io.of('/').adapter.serverCount();
  const broadcasting = leadOutboxes({
    ...deps,
    outboxes,
    readersOf: links.readersOf,
    replicas,
    intervalMs: config.broadcastIntervalMs,
    emit,
    onBegin: () => {
      catchUp.now();
      io.serverSideEmit(BETWEEN.catchUp);
    },
    onRelease: () => io.serverSideEmit(BETWEEN.leaseFree),
  });
  const wallets = serveWallets({ ...deps, io, audience, outboxes: broadcasting.outboxes });
  const state = createExchangeState({ ...deps, io });
  const guard = createSlowSocketGuard(io, log);
  const catchUp = createCatchUp(feed, log);
  /** Messages between the replicas may have been lost. */
  const lookAgain = (): void => {
    catchUp.now();
    wallets.lookNow();
  };

  serveSockets(io, { wallets, orders: () => orders, watch, subscriber, renew, log });
  hearReplicas(io, { links, feed, wallets, lookAgain, broadcasting, places, watch });

  const parts = [places, watch, state, guard, createHeart(feed, log), ...wallets.parts, broadcasting];
  return {
    endSession(sid) {
      watch.end(sid);
      io.serverSideEmit(BETWEEN.sessionOver, sid);
    },
    attach(server, callers, perform) {
      const { corsOrigins, rateLimit } = config;
      serveUpgrades(io, server, {
        ...callers,
        corsOrigins,
        isOpen: () => open,
        places: rateLimit ? places : null,
      });
      if (rateLimit) allowances = createAllowances({ ...callers, log });
      orders = createOrderEntry({ ...callers, perform });
      takeMessages(io, { ...callers, allowances, orders });
    },
    start() {
      for (const part of parts) part.start();
    },
    async stop(graceMs) {
      open = false;
      await orders?.stop();
      for (const part of parts) await part.stop();
      await catchUp.stop();
      await closeSockets(io, Math.min(graceMs, CLOSE_MAX_MS));
      await io.sockets.adapter.close();
      links.close();
    },
    newEpoch(epoch) {
      io.local.emit(EVENTS.epoch, presentEpoch(epoch));
      state.lookNow();
      lookAgain();
    },
    modeChanged: state.changed,
    replicas,
    stats: () => ({
      sockets: io.sockets.sockets.size,
      subscriptions: countSubscriptions(io.sockets.adapter.rooms),
      broadcasting: broadcasting.held(),
    }),
  };
}
