import type { Logger } from '../../log';
import type { DurabilityChecks } from '../../store/health/durability';
import type { Reads } from '../../store/reads/reads';
import { EVENTS, presentExchange } from '../../wire/answers/events';
import { BETWEEN } from '../messages';
import { repeat } from './repeat';
import type { ExchangeServer } from './sockets';

/** The interval of checks, because the command line changes the mode without a web process. */
const LOOK_EVERY_MS = 1_000;

interface Options {
  readonly io: ExchangeServer;
  readonly reads: Pick<Reads, 'mode'>;
  readonly durability: Pick<DurabilityChecks, 'current'>;
  readonly log: Logger;
}

/** Sends every socket of this process the mode of the exchange: when it connects, and when the mode changes. */
export function createExchangeState({ io, reads, durability, log }: Options) {
  let sent: ReturnType<typeof presentExchange> | null = null;

  async function look(): Promise<void> {
    const now = await reads.mode();
    const { epoch } = durability.current() ?? {};
    if (epoch === undefined) return;
    if (sent?.mode === now.mode && sent.message === now.message && sent.epoch === epoch) return;
    sent = presentExchange(now, epoch);
    io.local.emit(EVENTS.exchange, sent);
  }

  const onError = (error: Error): void => log.debug({ err: error.message }, 'the mode could not be read');
  const looks = repeat(LOOK_EVERY_MS, look, onError);
  /** Without Redis the mode is unknown; the next check sends it. */
  const lookNow = (): void => void look().catch(onError);

  io.on('connection', (socket) => {
    if (sent) socket.emit(EVENTS.exchange, sent);
    else lookNow();
  });
  io.on(BETWEEN.mode, lookNow);

  return {
    lookNow,
    /** This process has set the mode; the other replicas read it, too. */
    changed(): void {
      lookNow();
      io.serverSideEmit(BETWEEN.mode);
    },
    start: looks.start,
    stop: looks.stop,
  };
}
