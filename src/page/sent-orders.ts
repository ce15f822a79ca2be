import type { SubmitBody } from 'ctf-exchange-client';
import { live } from './exchange';
import { inTab } from './local-storage';

/** A signed order whose answer has not come yet. This tab keeps it over a reload. */
export interface SentOrder {
  readonly marketId: string;
  readonly body: SubmitBody;
  readonly atMs: number;
}

const NAME = 'sent-orders';

export function sentOrders(): readonly SentOrder[] {
  try {
    return JSON.parse(inTab.kept(NAME) ?? '[]') as SentOrder[];
  } catch {
    return [];
  }
}

const isOther = (sent: SentOrder) => (one: SentOrder) =>
  one.body.order.signature !== sent.body.order.signature;

const write = (all: readonly SentOrder[]): void =>
  inTab.keep(NAME, all.length === 0 ? null : JSON.stringify(all));

export const keepSent = (sent: SentOrder): void => write([...sentOrders().filter(isOther(sent)), sent]);
export const forgetSent = (sent: SentOrder): void => write(sentOrders().filter(isOther(sent)));

// After a reload, or when the exchange is back: the person learns what became of the order.
live.onConnect(() => {
  if (sentOrders().length > 0) void import('./parts/later').then(({ LATER }) => LATER.settleSent());
});
