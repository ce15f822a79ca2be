import { settlementId } from '../../../store/records/settlement';
import { type EncodedMatch, settleData, settleGas } from '../contracts/settle-call';
import { emptyCall, readFee, readGasMoney, readNonce, signCall } from '../contracts/transaction';
import type { Call, Fee } from '../contracts/unsigned';
import type { LaneHolder, LaneState } from '../store/intents';
import type { Candidate } from './candidates';
import type { LaneParts } from './lane-parts';
import { createOpenTransactions } from './open-transactions';
import { isFinalFault, LOOK_AGAIN_MS, MATCH_GAS_MAX, type Triage } from './triage';

/** How far the chain is, as a majority of the nodes knows it. */
export interface ChainPlace {
  readonly head: number;
  /** The last final block that the books have; null before the first. */
  readonly final: number | null;
}

export interface LaneStatus {
  readonly address: string;
  readonly isHeld: boolean;
  readonly state: LaneState;
  readonly nextNonce: number;
  /** Transactions that no final block contains yet; of those, the ones that no block contains. */
  readonly open: number;
  readonly unmined: number;
  /** Why it sends nothing for the moment. */
  readonly rests: string | null;
}

export interface RunningLane {
  /** One round of work; returns false when another process holds the lane. After an error it begins with what is stored. */
  round(place: ChainPlace): Promise<boolean>;
  status(): LaneStatus;
  release(): Promise<void>;
}

/** After this time without its holder, another process takes the lane. */
const LEASE_MS = 2_000;
const RENEW_MS = 500;
const GATHER_MS = 100;
const BATCH_GAS = 14_000_000n;
/** What the code of a wallet may burn at a delivery before it accepts: DELIVERY_GAS of contracts/MarketExchange.sol. */
const DELIVERY_GAS = 120_000n;
/** Nodes keep sixteen transactions of an account that they do not know. */
const UNMINED_MAX = 4;
/** More than that are open only while the chain has no final blocks; where CHAIN_CONFIRMATIONS counts, that many blocks are usual. */
const OPEN_MAX = 256;
const REST_MS = 5_000;
const AFTER_ERROR_MS = 500;
/** Other lanes may take matches of a batch while it is signed; each try leaves those out. */
const TRIES_MAX = 4;
const NOWHERE: ChainPlace = { head: -1, final: null };

/** Sends settlements under the nonces of one address. */
export function createLane(holder: LaneHolder, parts: LaneParts, canSign: boolean): RunningLane {
  const { lane } = holder;
  const { rpc, signer, preflight, intents, candidates, exchange, chainId, gasPriceMaxWei } = parts;
  const poor = (): void => restFor('it has too little money for gas');
  const open = createOpenTransactions(holder, parts, { canSign, onPoor: poor });
  let held: { readonly nextNonce: number; readonly state: LaneState } | null = null;
  let renewedMs = Number.NEGATIVE_INFINITY;
  let place = NOWHERE;
  let rest: { readonly why: string; readonly untilMs: number } | null = null;
  let toldAhead = false;
  let isKnown = false;

  /** As a majority of the nodes knows it: a wrong number would stop the lane, or end an intent too early. */
  const agreedNonce = (at: number): Promise<number> => readNonce({ ask: rpc.agree }, lane, at);

  /** The nonce that the stored one is compared with: nodes with different heads agree about a final block. */
  async function chainNonce({ head, final }: ChainPlace): Promise<number | null> {
    isKnown ||= (await intents.lanes()).some(({ address }) => address === lane);
    if (!isKnown) return agreedNonce(head);
    return final === null ? null : nonceAt(final);
  }

  /** Null when nodes have forgotten the state of that block, because there are no new final ones; what is open is followed all the same. */
  const nonceAt = (final: number): Promise<number | null> => agreedNonce(final).catch(() => null);

  async function hold(now: ChainPlace): Promise<boolean> {
    const before = held;
    held = await intents.hold(holder, LEASE_MS, await chainNonce(now));
    renewedMs = performance.now();
    // Another process that held it meanwhile counted the nonce up, and what it left is to be ended here.
    if (held && held.nextNonce !== before?.nextNonce) {
      place = NOWHERE;
      await open.recover();
    }
    const isAhead = held?.state === 'AHEAD';
    if (isAhead && !toldAhead)
      parts.onError(new Error(`the lane ${lane} stops: its nonces were used outside of this exchange`));
    toldAhead = isAhead;
    return held !== null;
  }

  function restFor(why: string): void {
    if (rest?.why !== why) parts.onError(new Error(`the lane ${lane} rests: ${why}`));
    rest = { why, untilMs: performance.now() + REST_MS };
  }

  function mayStart(): boolean {
    if (rest && performance.now() >= rest.untilMs) rest = null;
    const isFree = open.unmined() < UNMINED_MAX && open.count() < OPEN_MAX;
    return canSign && held?.state === 'RUNNING' && !rest && isFree;
  }

  async function start(): Promise<void> {
    const list = candidates.take(BATCH_GAS, GATHER_MS);
    if (list.length === 0) return;
    let left = list;
    try {
      left = await look(list);
      await send(left);
    } catch (error) {
      // Those that are in an intent all the same are refused there when they are taken again.
      candidates.giveBack(left, AFTER_ERROR_MS);
      throw error;
    }
  }

  /** Leaves out the matches that would fail. */
  async function look(list: readonly Candidate[]): Promise<readonly Candidate[]> {
    // Matches do not depend on each other, and a node may run its whole pool again for each look at what is pending.
    const at = parts.unmined() === 0 ? 'pending' : 'latest';
    const [refusal, failures] = await Promise.all([
      preflight.refusal(lane, place.head),
      preflight.failures(
        list.map(({ encoded }) => encoded),
        at,
      ),
    ]);
    if (refusal) {
      candidates.giveBack(list, 0);
      restFor(`the contract refuses its calls: ${refusal.error || refusal.reason}`);
      return [];
    }
    const sorted: Triage = parts.triage.sort(list, failures, place.head);
    for (const { candidate, pauseMs } of sorted.wait) candidates.giveBack([candidate], pauseMs);
    const cleared = await Promise.all(sorted.doubtful.map(isCleared));
    const all = [...sorted.send, ...sorted.doubtful.filter((_, i) => cleared[i])];
    const used = await usedNumbers(all);
    for (const candidate of used) {
      await parts.fail(candidate.match, { wallet: '', reason: 'UNKNOWN' }, place.head);
      candidates.drop([candidate]);
    }
    return all.filter((candidate) => !used.includes(candidate));
  }

  /** Matches whose number a lost match had: this Redis is an old copy, and the contract runs each number once. */
  async function usedNumbers(list: readonly Candidate[]): Promise<readonly Candidate[]> {
    const { final } = place;
    const back = list.filter(({ returns }) => returns > 0);
    if (final === null || back.length === 0) return [];
    const used = await Promise.all(back.map(({ encoded }) => preflight.wasSettled(encoded.id, final)));
    return back.filter((_, i) => used[i]);
  }

  /**
   * One node alone neither ends a match nor holds it up: ends it when a majority sees the fault, returns true when it sees none. The
   * books, and so the match, may know of funds that a block before their last final one did not have.
   */
  async function isCleared(candidate: Candidate): Promise<boolean> {
    const at = place.head;
    if (at < ((await parts.finalBlock()) ?? 0)) {
      candidates.giveBack([candidate], LOOK_AGAIN_MS);
      return false;
    }
    const agreed = await preflight.agreedFailure(candidate.encoded, at).catch(() => 'CONTRADICTION' as const);
    if (agreed === null) return true;
    if (agreed === 'CONTRADICTION' || !isFinalFault(agreed, candidate)) {
      candidates.giveBack([candidate], AFTER_ERROR_MS);
      return false;
    }
    // A token that moves nothing for anybody is no fault of the wallet whose turn it was. It is asked about the same block, because
    // in a later one it may refuse another wallet alone.
    if (agreed.reason === 'CALLBACK' && (await preflight.isCollateralStuck(at))) {
      parts.onError(new Error(`the settlement ${candidate.id} waits: the collateral refuses every transfer`));
      candidates.giveBack([candidate], REST_MS);
      return false;
    }
    const fault = parts.triage.judge(candidate, agreed, at);
    if (fault === null) {
      candidates.giveBack([candidate], LOOK_AGAIN_MS);
      return false;
    }
    await parts.fail(candidate.match, fault, at);
    candidates.drop([candidate]);
    return false;
  }

  /** What the wallets of matches may burn besides the gas of the match, by its id; only of wallets with code. */
  async function burnable(list: readonly Candidate[]): Promise<ReadonlyMap<string, bigint>> {
    const codes = await parts.withCode(list.flatMap(({ wallets }) => wallets));
    return new Map(
      list.flatMap(({ id, wallets }): [string, bigint][] => {
        const deliveries = wallets.filter((wallet) => codes.has(wallet)).length;
        return deliveries === 0 ? [] : [[id, DELIVERY_GAS * BigInt(deliveries)]];
      }),
    );
  }

  async function send(batch: readonly Candidate[]): Promise<void> {
    if (batch.length === 0) return;
    const burnt = await burnable(batch);
    const weighed = ({ id, encoded }: Candidate): EncodedMatch => ({
      ...encoded,
      gas: encoded.gas + (burnt.get(id) ?? 0n),
    });
    // Matches of wallets without code come first, so that nothing is burnt before them.
    const sorted = [...batch].sort((a, b) => Number(burnt.has(a.id)) - Number(burnt.has(b.id)));
    let gas = 0n;
    const end = sorted.findIndex((one, i) => {
      gas += weighed(one).gas;
      return i > 0 && gas > MATCH_GAS_MAX;
    });
    let left = end === -1 ? sorted : sorted.slice(0, end);
    candidates.giveBack(sorted.slice(left.length), 0);
    const [fee, money] = await Promise.all([
      readFee(rpc, gasPriceMaxWei),
      readGasMoney({ ask: rpc.agree }, lane, place.head),
    ]);
    for (let tries = 0; tries < TRIES_MAX && left.length > 0; tries++) {
      const encoded = left.map(weighed);
      const call = { to: exchange, data: settleData(encoded), gasLimit: settleGas(encoded) };
      if (open.costWei() + call.gasLimit * fee.maxWei > money) {
        poor();
        break;
      }
      const taken = await enlist(left, call, fee);
      if (taken === 'SENT') return;
      if (taken === 'NOT_NOW') break;
      candidates.drop(left.filter(({ id }) => taken.has(id)));
      left = left.filter(({ id }) => !taken.has(id));
    }
    candidates.giveBack(left, AFTER_ERROR_MS);
  }

  /** Signs, writes down and sends. Returns the ids of the matches that are in another intent, when there are any. */
  async function enlist(
    batch: readonly Candidate[],
    call: Call,
    fee: Fee,
  ): Promise<ReadonlySet<string> | 'SENT' | 'NOT_NOW'> {
    if (!held) return 'NOT_NOW';
    await parts.onStep?.('built', lane);
    const nonce = held.nextNonce;
    const attempt = await signCall(signer, lane, { chainId, nonce, call, fee });
    await parts.onStep?.('signed', lane);
    const matches = batch.map(({ match }) => match);
    const reply = await intents.enlist(holder, nonce, attempt, matches);
    if (reply.code === 'TAKEN') return new Set(reply.taken.map(settlementId));
    if (reply.code !== 'OK') {
      // The next round reads how the lane stands.
      renewedMs = Number.NEGATIVE_INFINITY;
      return 'NOT_NOW';
    }
    held = { ...held, nextNonce: nonce + 1 };
    candidates.drop(batch);
    await parts.onStep?.('enlisted', lane);
    await open.begin(nonce, attempt, call, matches);
    return 'SENT';
  }

  /**
   * Blocks that had used nonces of the lane were replaced: without a transaction under each of these, no later one runs. Theirs may
   * still run, and the contract runs each match once.
   */
  async function fill(used: number): Promise<void> {
    if (!held || !canSign || held.state !== 'RUNNING') return;
    const { nextNonce } = held;
    if (open.gaps(used, nextNonce).length === 0) return;
    // A nonce that a block has used is no gap, also before that block is final.
    for (const nonce of open.gaps(await agreedNonce(place.head), nextNonce).slice(0, UNMINED_MAX)) {
      const call = emptyCall(lane);
      const attempt = await signCall(signer, lane, {
        chainId,
        nonce,
        call,
        fee: await readFee(rpc, gasPriceMaxWei),
      });
      if (!(await intents.fill(holder, nonce, attempt))) return;
      await open.begin(nonce, attempt, call, []);
    }
  }

  async function work(now: ChainPlace): Promise<boolean> {
    if (!held || performance.now() - renewedMs >= RENEW_MS) {
      if (!(await hold(now))) return false;
    }
    const before = place;
    place = now;
    if (now.head !== before.head || open.isWaiting()) {
      if (!(await open.follow(now.head, await agreedNonce(now.head)))) held = null;
    }
    if (now.final !== null && now.final !== before.final) {
      const used = await nonceAt(now.final);
      if (used !== null) {
        await open.close(now.final, used);
        await fill(used);
      }
    }
    if (mayStart()) await start();
    return held !== null;
  }

  return {
    async round(now) {
      try {
        return await work(now);
      } catch (error) {
        held = null;
        throw error;
      }
    },
    status: () => ({
      address: lane,
      isHeld: held !== null,
      state: held?.state ?? 'RUNNING',
      nextNonce: held?.nextNonce ?? 0,
      open: open.count(),
      unmined: open.unmined(),
      rests: rest?.why ?? null,
    }),
    release: () => intents.release(holder),
  };
}
