import { createRaisedNonces } from '../../../../src/store/verbs/invalidate';
import { createAudit } from '../../../support/audit';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import type { FuzzModel } from './fuzz-model';

/** The audit works the amounts out by itself. */
export async function auditSound({ redis, run, keys }: ChainBooks): Promise<void> {
  const { differences } = await createAudit({ redis, run, keys, scale: SCALE, settlementGraceMs: 0 })();
  // The markets of these books have no documents.
  const found = differences.filter(({ kind }) => kind !== 'DOCUMENT');
  if (found.length > 0) throw new Error(`the audit says ${JSON.stringify(found.slice(0, 3))}`);
}

/** The chore of the worker: a nonce that was raised on the chain ends the orders below it. Returns the number of such wallets. */
export async function endOldNonces(books: ChainBooks, model: FuzzModel): Promise<number> {
  const { redis, keys, engine, settlements, requests } = books;
  const raised = await createRaisedNonces({ redis, keys })();
  for (const [address, nonce] of raised) await engine.invalidateAll(address, nonce);
  const old = [...requests.values()].filter(({ maker, nonce }) => nonce < model.nonceOf(maker));
  const stored = await settlements.orders(old.map(({ orderHash }) => orderHash));
  const open = [...stored.values()].filter(
    ({ status }) => status === 'OPEN' || status === 'PARTIALLY_FILLED',
  );
  if (open.length > 0) throw new Error(`orders below the nonce stay open: ${open.length}`);
  return raised.size;
}
