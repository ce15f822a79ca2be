import { Interface } from 'ethers';
import {
  BadAnswer,
  readAddress,
  readBytes,
  readHash,
  readList,
  readNumber,
  readObject,
} from '../../../chain/hex';
import { type Rpc, SLOW_MS } from '../../../chain/rpc';
import type { BlockRef } from '../../../exchange/chain';

/** Full sets that a wallet split or merged itself, or tokens that it redeemed, in chain units. */
export interface Conversion {
  readonly kind: 'SPLIT' | 'MERGE' | 'REDEEM';
  readonly wallet: string;
  readonly conditionId: string;
  readonly collateral: bigint;
  /** What was burnt of each token, by its id; empty for a split and a merge, which take as much of both as of the collateral. */
  readonly burnt: ReadonlyMap<bigint, bigint>;
}

export interface ConversionReader {
  /** What wallets converted in a block, in its order, as a majority of the nodes knows it; without what the exchange contract did. */
  at(block: BlockRef): Promise<readonly Conversion[]>;
}

interface Contracts {
  readonly exchange: string;
  readonly collateral: string;
  readonly conditionalTokens: string;
}

const SETS =
  'address indexed wallet, address collateral, bytes32 indexed parent, bytes32 indexed conditionId, uint256[] partition, uint256 amount';
const TOKENS = new Interface([
  `event PositionSplit(${SETS})`,
  `event PositionsMerge(${SETS})`,
  'event PayoutRedemption(address indexed wallet, address indexed collateral, bytes32 indexed parent, bytes32 conditionId, uint256[] indexSets, uint256 payout)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
]);
const KINDS = { PositionSplit: 'SPLIT', PositionsMerge: 'MERGE', PayoutRedemption: 'REDEEM' } as const;
const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const ZERO = `0x${'0'.repeat(64)}`;
/** The index sets of the two outcomes. */
const BINARY = '1,2';

interface Log {
  readonly index: number;
  readonly topics: string[];
  readonly data: string;
  readonly transactionHash: string;
}

const topicOf = (name: string): string => TOKENS.getEvent(name)?.topicHash ?? '';

/** Reads the events of the conditional tokens about sets of the collateral. */
export function createConversionReader(rpc: Pick<Rpc, 'agree'>, contracts: Contracts): ConversionReader {
  const [exchange, collateral, address] = [
    contracts.exchange,
    contracts.collateral,
    contracts.conditionalTokens,
  ].map((one) => one.toLowerCase());

  async function logsOf({ hash }: BlockRef, topics: readonly unknown[]): Promise<Log[]> {
    // By hash: asked by numbers, a node that lags behind would say that there are none.
    const filter = { blockHash: hash, address, topics };
    return rpc.agree('eth_getLogs', [filter], (answer) => readLogs(answer, hash, address ?? ''), SLOW_MS);
  }

  return {
    async at(block) {
      const logs = await logsOf(block, [NAMES.map(topicOf)]);
      const redeems = logs.some(({ topics }) => topics[0] === topicOf('PayoutRedemption'));
      const burns = redeems ? await logsOf(block, [topicOf('TransferSingle'), null, null, ZERO]) : [];
      let before = -1;
      return logs.flatMap((log): Conversion[] => {
        const parsed = TOKENS.parseLog(log);
        if (!parsed) throw new BadAnswer('log');
        const { args } = parsed;
        const kind = KINDS[parsed.name as keyof typeof KINDS];
        const wallet = String(args.wallet).toLowerCase();
        const since = before;
        before = log.index;
        if (
          wallet === exchange ||
          String(args.collateral).toLowerCase() !== collateral ||
          args.parent !== ZERO
        )
          return [];
        if (kind !== 'REDEEM' && [...args.partition].map(String).sort().join() !== BINARY) return [];
        const burnt = new Map<bigint, bigint>();
        for (const burn of burns) {
          if (kind !== 'REDEEM' || burn.index <= since || burn.index >= log.index) continue;
          if (burn.transactionHash !== log.transactionHash) continue;
          const own = TOKENS.parseLog(burn)?.args;
          if (own && String(own.from).toLowerCase() === wallet)
            burnt.set(own.id, (burnt.get(own.id) ?? 0n) + own.amount);
        }
        const amount: bigint = kind === 'REDEEM' ? args.payout : args.amount;
        return [{ kind, wallet, conditionId: args.conditionId, collateral: amount, burnt }];
      });
    },
  };
}

function readLogs(answer: unknown, blockHash: string, address: string): Log[] {
  const logs = readList(answer, 'logs').map((one): Log => {
    const log = readObject(one, 'log');
    if (readHash(log.blockHash, 'log') !== blockHash || readAddress(log.address, 'log') !== address)
      throw new BadAnswer('log');
    return {
      index: readNumber(log.logIndex, 'log'),
      topics: readList(log.topics, 'log').map((topic) => readHash(topic, 'log')),
      data: readBytes(log.data, 'log'),
      transactionHash: readHash(log.transactionHash, 'log'),
    };
  });
  return logs.sort((a, b) => a.index - b.index);
}
