import { WALLET_READER } from '../../../chain/artifacts';
import { addressIn, creationData, wordsOf } from '../../../chain/exchange-contract';
import { BadAnswer, readBytes } from '../../../chain/hex';
import { type Rpc, SLOW_MS } from '../../../chain/rpc';
import type { BlockRef, WalletReading } from '../../../exchange/chain';

export interface ReadContracts {
  readonly exchange: string;
  readonly collateral: string;
  readonly conditionalTokens: string;
}

/** A wallet, and the markets whose tokens are read. */
export interface WalletQuery {
  readonly address: string;
  readonly markets: readonly TokenQuery[];
}
export interface TokenQuery {
  readonly marketId: string;
  /** Yes, No. */
  readonly tokenIds: readonly [string, string];
}

export interface WalletReader {
  /** The state of wallets after one block, as a majority of the nodes knows it; in the order of the queries. */
  read(at: BlockRef, queries: readonly WalletQuery[]): Promise<readonly WalletReading[]>;
}

/** The limits of a node for the code of a creation and for its answer, which is the code of the contract that it would create. */
const DATA_BYTES_MAX = 49_152;
const ANSWER_BYTES_MAX = 24_576;
const WORD_BYTES = 32;
/** Number, parent hash, places of the two lists, and their lengths. */
const ANSWER_HEAD_WORDS = 6;
const WALLET_WORDS = 5;
/** Three contracts, places of the two lists, and their lengths. */
const ARGUMENT_HEAD_WORDS = 7;
const HOLDING_WORDS = 2;
/** The markets of one wallet in one call; those of a wallet with more are read by several. */
const MARKETS_MAX = 300;

export function createWalletReader(rpc: Rpc, contracts: ReadContracts): WalletReader {
  async function call(at: BlockRef, queries: readonly WalletQuery[]): Promise<WalletReading[]> {
    const data = creationData(WALLET_READER, argumentsOf(contracts, queries));
    // By hash: asked by number, a node on another branch would answer for that one.
    const state = { blockHash: at.hash, requireCanonical: true };
    const read = (answer: unknown): string => checked(readBytes(answer, 'wallets'), at, queries);
    return readingsOf(await rpc.agree('eth_call', [{ data }, state], read, SLOW_MS), queries);
  }

  return {
    async read(at, queries) {
      const answers = await Promise.all(callsFor(queries).map((some) => call(at, some)));
      return joined(answers.flat());
    },
  };
}

/** Divides queries into calls that stay below the limits of nodes. */
function callsFor(queries: readonly WalletQuery[]): WalletQuery[][] {
  const codeBytes = WALLET_READER.bytecode.length / 2;
  const calls: WalletQuery[][] = [];
  let [dataLeft, answerLeft] = [0, 0];
  for (const query of queries.flatMap(pieces)) {
    const tokens = 2 * query.markets.length;
    const data = (1 + HOLDING_WORDS * tokens) * WORD_BYTES;
    const answer = (WALLET_WORDS + tokens) * WORD_BYTES;
    if (data > dataLeft || answer > answerLeft) {
      calls.push([]);
      dataLeft = DATA_BYTES_MAX - codeBytes - ARGUMENT_HEAD_WORDS * WORD_BYTES;
      answerLeft = ANSWER_BYTES_MAX - ANSWER_HEAD_WORDS * WORD_BYTES;
    }
    calls.at(-1)?.push(query);
    dataLeft -= data;
    answerLeft -= answer;
  }
  return calls;
}

function pieces({ address, markets }: WalletQuery): WalletQuery[] {
  const count = Math.max(1, Math.ceil(markets.length / MARKETS_MAX));
  return Array.from({ length: count }, (_, i) => ({
    address,
    markets: markets.slice(i * MARKETS_MAX, (i + 1) * MARKETS_MAX),
  }));
}

/** Puts the pieces of a wallet together again: they follow each other. */
function joined(readings: readonly WalletReading[]): WalletReading[] {
  const whole: WalletReading[] = [];
  for (const reading of readings) {
    const last = whole.at(-1);
    if (last?.address !== reading.address) whole.push(reading);
    else whole[whole.length - 1] = { ...last, tokens: [...last.tokens, ...reading.tokens] };
  }
  return whole;
}

const word = (value: bigint | number | string): string => BigInt(value).toString(16).padStart(64, '0');

/** Encodes the arguments of the constructor: contracts, wallets, holdings. */
function argumentsOf(at: ReadContracts, queries: readonly WalletQuery[]): string {
  const holdings = queries.flatMap(({ markets }, wallet) =>
    markets.flatMap(({ tokenIds }) => tokenIds.map((tokenId) => word(wallet) + word(tokenId))),
  );
  const walletsPlace = 5 * WORD_BYTES;
  const holdingsPlace = walletsPlace + (1 + queries.length) * WORD_BYTES;
  return [
    ...['0x', word(at.exchange), word(at.collateral), word(at.conditionalTokens)],
    ...[word(walletsPlace), word(holdingsPlace)],
    ...[word(queries.length), ...queries.map(({ address }) => word(address))],
    ...[word(holdings.length), ...holdings],
  ].join('');
}

/** Refuses an answer of another form, and of another block: some nodes leave out which block was asked for. */
function checked(answer: string, at: BlockRef, queries: readonly WalletQuery[]): string {
  const words = wordsOf(answer, 'wallets');
  const tokens = queries.reduce((sum, { markets }) => sum + 2 * markets.length, 0);
  const tokensAt = 5 + WALLET_WORDS * queries.length;
  const isWhole =
    words.count === ANSWER_HEAD_WORDS + WALLET_WORDS * queries.length + tokens &&
    words.at(2) === BigInt(4 * WORD_BYTES) &&
    words.at(3) === BigInt(tokensAt * WORD_BYTES) &&
    words.at(4) === BigInt(queries.length) &&
    words.at(tokensAt) === BigInt(tokens);
  if (!isWhole || words.at(0) !== BigInt(at.number)) throw new BadAnswer('wallets');
  return answer;
}

function readingsOf(answer: string, queries: readonly WalletQuery[]): WalletReading[] {
  const words = wordsOf(answer, 'wallets');
  let token = ANSWER_HEAD_WORDS + WALLET_WORDS * queries.length;
  return queries.map(({ address, markets }, i) => {
    const place = 5 + WALLET_WORDS * i;
    return {
      address: addressIn(BigInt(address)),
      collateral: { balance: words.at(place), allowance: words.at(place + 1) },
      approvedForAll: words.at(place + 2) !== 0n,
      minNonce: words.at(place + 3),
      hasCode: words.at(place + 4) !== 0n,
      tokens: markets.map(({ marketId }) => ({
        marketId,
        balances: [words.at(token++), words.at(token++)] as const,
      })),
    };
  });
}
