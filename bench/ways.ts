import { BATCH_ORDERS_MAX } from '../src/wire/requests/orders';
import { openOrderLane } from './order-lane';
import type { Signer, Submission } from './signer';
import { call, type Side } from './web-process';

/** All orders rest; or 45 % rest, 40 % are cancels, 15 % cross. */
export type Mix = 'rest' | 'mixed';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request, and how many commands it has. */
export interface Step {
  readonly commands: number;
  /** The answer of each order or cancel in it. */
  send(): Promise<readonly Answer[]>;
}

/** Twenty commands of the mix: 9 rest, 8 cancel, 3 cross. */
const PATTERN = 'rcrcxrcrcrcxrcrcrcxr';
/** Five requests of the mix in batches: 45 rest, 15 cross, 40 are cancelled. */
const BATCHES = ['orders', 'cancels', 'orders', 'cancels', 'orders'] as const;
/** One of four orders of a batch of the mix crosses. */
const CROSSING_EACH = 4;
const TAKER = { outcome: 0, cents: 56 } as const;

/** How one order is sent, and taken back. */
export interface Commands {
  submit(submission: Submission): Promise<Answer>;
  cancel(submission: Submission): Promise<Answer>;
}

/** The steps of one connection, prepared before the clock starts: this number of commands or a few more. */
export type Way = (mix: Mix, commands: number, connection: number) => Step[];

/** One order or cancel in a request; a connection cancels its own resting orders. */
export function singly({ submit, cancel }: Commands, { sign }: Pick<Signer, 'sign'>): Way {
  return (mix, commands) => {
    const rested: Submission[] = [];
    const step = (answer: () => Promise<Answer>): Step => ({
      commands: 1,
      send: async () => [await answer()],
    });
    return Array.from({ length: commands }, (_, i) => {
      const what = mix === 'rest' ? 'r' : PATTERN[i % PATTERN.length];
      const known = what === 'c' ? rested.shift() : undefined;
      if (known) return step(() => cancel(known));
      const submission = what === 'x' ? sign(TAKER) : sign();
      if (what !== 'x') rested.push(submission);
      return step(() => submit(submission));
    });
  };
}

/** The same over HTTP at the exchange. */
export const single = (side: Side, signer: Signer, tokens: readonly string[]): Way =>
  singly(
    {
      submit: ({ path, body }) => call(side, 'POST', path, body),
      cancel: ({ orderHash, wallet }) =>
        call(side, 'POST', `/orders/${orderHash}/cancel`, undefined, tokens[wallet]),
    },
    signer,
  );

/** As many orders, and as many cancels, in a request as it may have; a connection is one wallet. */
export function batches(side: Side, { market, sign }: Signer, tokens: readonly string[]): Way {
  function orders(mix: Mix, wallet: number, rested: Submission[]): Step {
    const submissions = Array.from({ length: BATCH_ORDERS_MAX }, (_, i) => {
      const crosses = mix === 'mixed' && i % CROSSING_EACH === CROSSING_EACH - 1;
      const submission = sign({ wallet, ...(crosses ? TAKER : {}) });
      if (!crosses) rested.push(submission);
      return submission;
    });
    const body = `{"orders":[${submissions.map(({ body }) => body).join(',')}]}`;
    return {
      commands: submissions.length,
      send: async () => {
        const { status, text } = await call(side, 'POST', `/markets/${market.id}/orders/batch`, body);
        if (status !== 200) return [{ status, text }];
        const { results } = JSON.parse(text) as { results: { status: number }[] };
        return results.map((result) => ({ status: result.status, text }));
      },
    };
  }

  function cancels(wallet: number, rested: Submission[]): Step {
    const orderHashes = rested.splice(0, BATCH_ORDERS_MAX).map(({ orderHash }) => orderHash);
    const body = JSON.stringify({ orderHashes });
    return {
      commands: orderHashes.length,
      send: async () => {
        const answer = await call(side, 'POST', '/orders/cancel', body, tokens[wallet]);
        const { cancelled = [] } = JSON.parse(answer.text) as { cancelled?: string[] };
        // A request that cancels less is a failure of the benchmark.
        return cancelled.length === orderHashes.length
          ? orderHashes.map(() => answer)
          : [{ ...answer, status: 0 }];
      },
    };
  }

  return (mix, commands, connection) => {
    const rested: Submission[] = [];
    const wallet = connection % tokens.length;
    const requests = Math.ceil(commands / BATCH_ORDERS_MAX);
    return Array.from({ length: requests }, (_, i) =>
      mix === 'mixed' && BATCHES[i % BATCHES.length] === 'cancels'
        ? cancels(wallet, rested)
        : orders(mix, wallet, rested),
    );
  };
}

/** Over private sockets, one of each wallet, which also get the messages about its orders. Their process serves nothing else. */
export async function overSockets(side: Side, signer: Signer, tokens: readonly string[]): Promise<Way> {
  const lanes = await Promise.all(tokens.map((token) => openOrderLane(side.port, token)));
  const send = (wallet: number, event: string, members: string): Promise<Answer> => {
    const lane = lanes[wallet];
    if (!lane) throw new Error(`wallet ${wallet} has no socket`);
    return lane.send(event, `{"marketId":"${signer.market.id}",${members}}`);
  };
  return singly(
    {
      submit: ({ wallet, body }) => send(wallet, 'order:submit', body.slice(1, -1)),
      cancel: ({ wallet, orderHash }) => send(wallet, 'order:cancel', `"orderHash":"${orderHash}"`),
    },
    signer,
  );
}

export type WayName = 'single' | 'batch' | 'socket';

/** The ways of orders over HTTP, to the same process in turns. */
export const WAYS: readonly (readonly [
  name: WayName,
  wayOf: (side: Side, signer: Signer, tokens: readonly string[]) => Way,
])[] = [
  ['single', single],
  ['batch', batches],
];
