import { type Coded, type Flag, SETTLE, SWEEP, verb } from '../../store/redis/verbs';

/** The scripts of lua/. */
export const CHAIN_VERBS = {
  note_funds: verb(['funds', 'cash', 'markets', 'layout'], 4).replies<
    [chain: Buffer, exchange: Buffer, hold: Buffer]
  >(),
  observe_block: verb(
    ['cursor', 'cash', 'exposed', 'caps', 'settlements', 'strikes', 'settledLots', 'outbox'],
    6,
    { args: true },
  ).replies<Coded<[settled: number, cancelled: number, more: Flag, unread: Buffer, unknown: Buffer]>>(),
  observe_wallets: verb(['cursor', 'cash', 'exposed', 'caps'], 3).replies<
    Coded<[cancelled: number, more: Flag]>
  >(),
  cap_wallets: verb(['cursor', 'cash', 'caps'], 4).replies<Coded<[cancelled: number, more: Flag]>>(),
  void_settlement: verb(['settlements', 'cash', 'exposed', 'strikes', 'settledLots', 'outbox'], 5).replies<
    Coded<[cancelled: number, more: Flag]>
  >(),
  rejoin_chain: verb(
    ['cursor', 'mode', 'finals', 'settlements', 'cash', 'exposed', 'settledLots', 'intents', 'outbox'],
    4,
    { args: true },
  ).replies<Coded<[reopened: number, unreadable: Buffer]>>(),
  cancel_unpaid: verb([...SWEEP, 'unpaid'], 2).replies<[cancelled: number, more: Flag]>(),
  hold_lane: verb(['lanes'], 4).replies<[held: Flag, nextNonce: Buffer, state: number] | [held: Flag]>(),
  move_lane: verb(['lanes'], 4).replies<Flag>(),
  enlist_intent: verb([...SETTLE, 'lanes', 'intents', 'mode'], 7).replies<
    [code: Buffer, ...rest: Buffer[]]
  >(),
  close_intent: verb([...SETTLE, 'lanes', 'intents', 'cursor'], 5).replies<
    [code: Buffer, ...rest: Buffer[]]
  >(),
};

type ChainVerbs = typeof CHAIN_VERBS;
declare module '../../store/redis/verbs' {
  interface Verbs extends ChainVerbs {}
}
