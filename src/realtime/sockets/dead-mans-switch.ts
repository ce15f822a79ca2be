import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import type { Presence } from '../../store/people/presence';
import { isAnswered } from '../../store/redis/refusals';
import type { Engine } from '../../store/verbs/engine';
import type { Leadership } from '../broadcast/leadership';
import { repeat } from './repeat';

/** Orders are cancelled this long after the last socket of the wallet was closed (docs/use/real-time.md). */
const GRACE_MS = 10_000;
const MARK_EVERY_MS = 500;
const SWEEP_EVERY_MS = 250;
/**
 * The wait of a process that has just begun to broadcast: while Redis was away, replicas could not report their sockets.
 */
const PATIENCE_MS = 3_000;

export interface SwitchDeps {
  readonly presence: Presence;
  readonly engine: Pick<Engine, 'cancelAbsent'>;
  readonly held: Leadership['held'];
  readonly log: Logger;
  /** Wallets with sockets in this process that requested it, in lower case. */
  readonly wallets: () => readonly string[];
}

export interface DeadMansSwitch {
  /** Marks the wallet as present. From now on its orders are cancelled when it goes, even if this process dies. */
  arm(address: string): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/**
 * `cancelOnDisconnect`: replicas regularly store which wallets they have, each with the moment at which the wallet would
 * count as gone. The broadcasting process cancels the orders of a wallet after that moment; each step checks again whether
 * the wallet is still away.
 */
export function createDeadMansSwitch(deps: SwitchDeps): DeadMansSwitch {
  const { presence, engine, held, log, wallets } = deps;
  // The mark may be this old when the last socket closes.
  const lifeMs = GRACE_MS + MARK_EVERY_MS;
  const onError = (error: Error): void => log.debug({ err: error.message }, 'cancel on disconnect waits');
  const loops = [
    repeat(MARK_EVERY_MS, () => presence.mark(wallets(), lifeMs), onError),
    repeat(SWEEP_EVERY_MS, sweep, onError),
  ];

  async function sweep(): Promise<void> {
    const lease = held();
    if (!lease || performance.now() - lease.sinceMs < PATIENCE_MS) return;
    const failures: unknown[] = [];
    for (const address of await presence.absent(lease.token, lifeMs)) {
      try {
        const { cancelled, sequences } = await engine.cancelAbsent(address, lease.token);
        if (cancelled.length === 0) continue;
        log.info({ address, markets: sequences.size }, 'orders cancelled on disconnect');
      } catch (error) {
        // HALTED, or more orders than the bound of one walk: the wallet stays on the list.
        if (error instanceof Refusal) continue;
        // Damaged records of one wallet must not keep another wallet's orders open.
        if (!isAnswered(error)) throw error;
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    arm: (address) => presence.mark([address], lifeMs),
    start: () => {
      for (const loop of loops) loop.start();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
