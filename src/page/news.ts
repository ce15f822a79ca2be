import type { Activity, Comment, Order } from 'ctf-exchange-client';
import { remembered } from './market-list-data';
import { endWords } from './order-words';
import { nameOf } from './outcome-names';
import { centsOf, dollars, lotsOf, microOf, shares, shortAddress } from './units';

/** Something that happened to the wallet without a request of its own. */
export interface News {
  readonly id: string;
  readonly at: string;
  readonly marketId: string;
  readonly text: string;
}

const NEWS_MAX = 50;

/** The fills of a resting order as one, because a large order meets many; they have its price. */
function fillsOf(lines: readonly Activity[]): News[] {
  const byOrder = new Map<string, Activity[]>();
  for (const line of lines) {
    // The ticket has answered for the orders that met the book.
    if (line.type !== 'TRADE' || line.role !== 'MAKER' || line.orderHash === null) continue;
    byOrder.set(line.orderHash, [...(byOrder.get(line.orderHash) ?? []), line]);
  }
  return [...byOrder].flatMap(([hash, [latest, ...earlier]]) => {
    if (!latest?.marketId) return [];
    const lots = [latest, ...earlier].reduce((sum, { size }) => sum + lotsOf(size ?? '0'), 0);
    const name = nameOf(remembered(latest.marketId), latest.outcomeIndex ?? 0);
    const did = latest.side === 'BUY' ? 'Bought' : 'Sold';
    return [
      {
        id: `fill ${hash}`,
        at: latest.occurredAt,
        marketId: latest.marketId,
        text: `${did} ${shares(lots)} ${name} at ${centsOf(latest.price ?? '0')}`,
      },
    ];
  });
}

function paymentOf({ id, type, occurredAt: at, marketId, changes }: Activity): News[] {
  if (marketId === null || (type !== 'REDEEM' && type !== 'REVERSAL')) return [];
  const micro = microOf(changes.collateral);
  const paid = micro > 0 ? `You were paid ${dollars(micro)}` : 'Your shares paid nothing';
  const text = type === 'REDEEM' ? paid : 'A trade failed on the chain: nothing was paid';
  return [{ id, at, marketId, text }];
}

function endOf(order: Order): News[] {
  const { orderHash, marketId, updatedAt: at, createdAt } = order;
  // What ended at once was answered in the ticket.
  const text = at > createdAt ? endWords(order, remembered(marketId)) : null;
  return text === null ? [] : [{ id: `end ${orderHash}`, at, marketId, text }];
}

/** What others wrote after the wallet in the threads in which it wrote. */
export function answersTo(address: string, comments: readonly Comment[]): Comment[] {
  const threadOf = ({ id, parentId }: Comment): string => parentId ?? id;
  const since = new Map<string, string>();
  for (const comment of comments) {
    const before = since.get(threadOf(comment)) ?? comment.createdAt;
    if (comment.author.address === address)
      since.set(threadOf(comment), before < comment.createdAt ? before : comment.createdAt);
  }
  return comments.filter((comment) => {
    const at = since.get(threadOf(comment));
    return (
      at !== undefined && comment.createdAt > at && comment.author.address !== address && !comment.deleted
    );
  });
}

const answerNews = ({ id, createdAt: at, marketId, author, body }: Comment): News => ({
  id,
  at,
  marketId,
  text: `${author.username ?? shortAddress(author.address)} answered: ${body}`,
});

/** The latest news, newest first. */
export const newsFrom = (
  lines: readonly Activity[],
  orders: readonly Order[],
  answers: readonly Comment[],
): readonly News[] =>
  [...fillsOf(lines), ...lines.flatMap(paymentOf), ...orders.flatMap(endOf), ...answers.map(answerNews)]
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, NEWS_MAX);
