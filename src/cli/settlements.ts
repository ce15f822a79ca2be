import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { checksumAddress } from '../auth/address';
import { matchOrdersData } from '../chain/match-orders';
import { Refusal } from '../exchange/errors';
import type { SettlementStatus } from '../exchange/status';
import { type SettlementKey, settlementId } from '../store/records/settlement';
import { signedOrdersOf } from '../store/records/signed-order';
import { type WalkedSettlement, walkSettlements } from '../store/settlement/walk';
import { presentSettlement } from '../wire/answers/settlement';
import { recorded } from './action';
import { type CliStore, type Command, EXIT, type Run } from './store';

export interface ExportOptions {
  readonly status?: SettlementStatus | undefined;
  readonly market?: string | undefined;
  readonly calldata: boolean;
  /** A file; by default standard output. */
  readonly output?: string | undefined;
}

/** Writes a line of JSON for each settlement, oldest first; with `calldata` also the transaction that settles it. */
export const exportSettlements =
  ({ status, market, calldata, output }: ExportOptions): Command =>
  async (run) => {
    const { store } = run;
    const found = market === undefined ? undefined : await store.reads.market(market);
    if (found === null)
      throw new Refusal(
        'MARKET_NOT_FOUND',
        `there is no market ${JSON.stringify(market)}; see: exchange markets list`,
      );
    const target = output === undefined ? null : (await open(output, 'wx')).createWriteStream();
    const failed = target && finished(target);
    failed?.catch(() => undefined);
    let count = 0;
    for await (const walked of walkSettlements(store.settlements, { status, marketId: found?.terms.id })) {
      const text = JSON.stringify(await lineOf(store, walked, calldata));
      if (target && !target.write(`${text}\n`)) await Promise.race([once(target), failed]);
      if (!target) await run.line(text);
      count++;
    }
    target?.end();
    await failed;
    if (output !== undefined) await run.say({ settlements: count }, [`${count} settlements in ${output}`]);
    return EXIT.done;
  };

const once = (target: NodeJS.EventEmitter): Promise<void> =>
  new Promise((resolve) => target.once('drain', resolve));

async function lineOf(store: CliStore, { record, orders }: WalkedSettlement, calldata: boolean) {
  const { terms } = (await store.reads.market(record.marketId)) ?? {};
  if (!terms) throw new Error(`a settlement names the unknown market ${record.marketId}`);
  const { settlement } = record;
  const { takerOrder, makerOrders } = signedOrdersOf(record, orders, terms, checksumAddress);
  const facts = { ...record, id: settlementId(record), takerOrder, makerOrders };
  const shown = presentSettlement(facts, terms, store.config.funds);
  if (!calldata) return shown;
  const isWhole = takerOrder && settlement && makerOrders.length === settlement.makerHashes.length;
  return {
    ...shown,
    to: checksumAddress(store.config.exchangeAddress),
    data: isWhole ? matchOrdersData({ ...settlement, takerOrder, makerOrders }) : null,
  };
}

const ID = /^([0-9a-z]{8})-([1-9][0-9]{0,14})-s([0-9]{1,3})$/;
const PART_MAX = 255;

/** Throws INVALID_REQUEST. */
export function keyOf(id: string): SettlementKey {
  const [, marketId = '', sequence, part] = ID.exec(id) ?? [];
  if (marketId === '' || Number(part) > PART_MAX) {
    throw new Refusal(
      'INVALID_REQUEST',
      `${JSON.stringify(id)} is not the id of a settlement; one looks like 81cqi70o-42-s0`,
    );
  }
  return { marketId, sequence: Number(sequence), part: Number(part) };
}

/** Records that a settlement was mined: it becomes CONFIRMED, with the hash of its transaction. */
export const acknowledge =
  (id: string, transactionHash: string): Command =>
  async ({ store, say }: Run) => {
    if (store.config.chain !== null)
      throw new Refusal('ON_CHAIN', 'only the chain can confirm a settlement; use: exchange chain status');
    const key = keyOf(id);
    const record = await store.settlements.find(key);
    if (!record)
      throw new Refusal('NOT_FOUND', `there is no settlement ${id}; see: exchange settlements export`);
    const path = `/admin/settlements/${id}`;
    const doing = { action: 'settlements acknowledge', path, body: { transactionHash } };
    await recorded(store, doing, async () => {
      if (await store.settlements.move({ ...key, tradeMs: record.tradeMs }, 'CONFIRMED', transactionHash))
        return;
      const now = await store.settlements.find(key);
      if (now?.transactionHash === transactionHash) return;
      throw new Refusal(
        'INVALID_REQUEST',
        `the settlement is already CONFIRMED by ${now?.transactionHash ?? 'no transaction'}; it keeps that hash`,
      );
    });
    await say({ id, status: 'CONFIRMED', transactionHash }, [`${id} CONFIRMED by ${transactionHash}`]);
    return EXIT.done;
  };
