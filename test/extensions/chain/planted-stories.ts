import { makeHostile } from './hostile-collateral';
import type { Stage, StageTrader } from './planted-stage';
import type { RpcRequest } from './proxy';
import { CODE, setCode } from './stories';
import { collateralAbi } from './world';

/**
 * Stories in which one bug each must show, whatever the order of things in the processes. Each returns the violations of the
 * sampler; the checker looks when they have ended.
 */
export type Story = (stage: Stage) => Promise<string[]>;

const SHARES = 100;
/** More than the blocks until a match is final, sent again at a higher price, or looked at twice. */
const SOME_BLOCKS = 8;
const ASKED_AGAIN = 6;
const TRANSFER = collateralAbi.getFunction('transfer')?.selector ?? '';

const pair = async (stage: Stage, cash = 100n): Promise<[StageTrader, StageTrader]> =>
  (await stage.traders({}, { cash })) as [StageTrader, StageTrader];

/** A match is settled while the blocks come one by one. A third wallet allows less than it has. */
const calm: Story = async (stage) => {
  const [yes, no] = await pair(stage);
  const [thrifty] = (await stage.traders({ allowance: 1n })) as [StageTrader];
  const sampler = await stage.sampler();
  await yes.place({ side: 'BUY', outcome: 0, pips: 1_000, lots: 100 });
  await no.place({ side: 'BUY', outcome: 1, pips: 1_000, lots: 100 });
  // Refused, because it needs more than is allowed.
  await thrifty.place({ side: 'BUY', outcome: 0, pips: 1_000, lots: 5_000 }, { mayFail: true });
  stage.mine(false);
  await stage.match(yes, no, 10);
  await stage.broadcast(1);
  await stage.steps(SOME_BLOCKS, sampler);
  stage.mine(true);
  return sampler.stop();
};

/** The wallet has 100, and each match costs it 60; no block is made between them. */
const twice: Story = async (stage) => {
  const [yes, no] = await pair(stage, 200n);
  await no.place({ side: 'BUY', outcome: 1, pips: 4_000, lots: SHARES * 100 });
  stage.mine(false);
  await stage.match(yes, no, SHARES);
  await stage.broadcast(1);
  // Refused, because too little is left.
  await yes.place({ side: 'BUY', outcome: 0, pips: 6_000, lots: SHARES * 100 }, { mayFail: true });
  stage.mine(true);
  return [];
};

/** A node takes a transaction, and blocks begin to have it only after it was sent at a higher price. */
const stuck: Story = async (stage) => {
  const { world, proxy } = stage;
  const [yes, no] = await pair(stage);
  stage.mine(false);
  proxy.swallow();
  await stage.match(yes, no, 10);
  await stage.broadcast(1);
  const [first] = proxy.broadcasts;
  proxy.heal();
  stage.mine(true);
  await stage.broadcast(2);
  stage.mine(false);
  // Refused when the other one took its place, or is in a block.
  await world.chain.ask('eth_sendRawTransaction', first).catch(() => undefined);
  stage.mine(true);
  return [];
};

/** The node that is asked for events lags behind the one that told of the block. */
const lateEvents: Story = async (stage) => {
  const { proxy } = stage;
  const [yes, no] = await pair(stage);
  proxy.forge(({ method, params }: RpcRequest, result) => {
    if (method !== 'eth_getLogs') return result;
    if ('blockHash' in (params[0] as object)) throw new Error('unknown block');
    return [];
  });
  await stage.match(yes, no, 10);
  await stage.broadcast(1);
  const [block, asked] = [await stage.head(), stage.asked('eth_getLogs')];
  await stage.soon('the events of these blocks were asked for', async () => {
    const isLater = (await stage.head()) > block + SOME_BLOCKS;
    return isLater && stage.asked('eth_getLogs') > asked + SOME_BLOCKS;
  });
  proxy.heal();
  return [];
};

/** After a pause a node names another block in place of the one with the match, and its next block is of the right branch. */
const otherBranch: Story = async (stage) => {
  const { proxy, world } = stage;
  const [yes, no] = await pair(stage);
  stage.mine(false);
  await stage.match(yes, no, 10);
  await stage.broadcast(1);
  proxy.fail(['eth_getBlockByNumber']);
  const block = (await stage.head()) + 1;
  for (let i = 0; i < SOME_BLOCKS; i++) await world.chain.ask('evm_mine');
  const number = `0x${block.toString(16)}`;
  let asked = 0;
  proxy.heal();
  proxy.forge(async ({ method, params }: RpcRequest, result) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== number) return result;
    asked++;
    const before = await world.chain.ask<object>(
      'eth_getBlockByNumber',
      `0x${(block - 1).toString(16)}`,
      false,
    );
    return { ...before, number };
  });
  await stage.soon('the block was asked for', async () => {
    const final = await stage.metric('exchange_chain_final_block');
    return asked > ASKED_AGAIN || final >= block;
  });
  proxy.heal();
  stage.mine(true);
  return [];
};

/** The match takes 60 of 100, and an open order needs the other 40, while the match is in a block that is not final. */
const ownFills: Story = async (stage) => {
  const [yes, no] = await pair(stage);
  await yes.place({ side: 'BUY', outcome: 0, pips: 4_000, lots: SHARES * 100 });
  stage.mine(false);
  await stage.match(yes, no, SHARES);
  await stage.broadcast(1);
  const block = (await stage.head()) + 1;
  await stage.world.chain.ask('evm_mine');
  await stage.soon('the books have seen the match at the head', async () => {
    const behind = await stage.metric('exchange_chain_head_lag_blocks');
    return (await stage.metric('exchange_chain_final_block')) + behind >= block;
  });
  stage.mine(true);
  return [];
};

/** By the clock of the chain the order has expired when it is matched. */
const expired: Story = async (stage) => {
  const [yes, no] = await pair(stage);
  await stage.world.chain.ask('evm_increaseTime', 1_000);
  const start = await stage.head();
  await stage.soon('blocks are made at that time', async () => (await stage.head()) > start + 2);
  const expiration = String(Math.floor(Date.now() / 1_000) + 120);
  await yes.place({ side: 'BUY', outcome: 0, pips: 1_000, lots: 100 });
  await stage.match(yes, no, 10, expiration);
  return [];
};

/** A wallet grows code that refuses tokens. */
const refusing: Story = async (stage) => {
  const [yes, no] = await pair(stage);
  await setCode(stage.world, yes.address, CODE.reverts);
  await stage.match(yes, no, 10);
  return [];
};

/** The collateral is paused when the operator looks at the match, and not any more when it asks about a pause; twice. */
const pausing: Story = async (stage) => {
  const { proxy, world } = stage;
  const [yes, no] = await pair(stage);
  for (const [one, outcome] of [[yes, 0] as const, [no, 1] as const])
    await one.place({ side: 'BUY', outcome, pips: 1_000, lots: 100 });
  const { behave, restore } = await makeHostile(world);
  let checks = 0;
  let isLifted = false;
  await behave('reverts');
  proxy.watch(async ({ method, params: [call] }) => {
    const { to, data } = (call ?? {}) as { to?: string; data?: string };
    if (method === 'eth_call' && to === world.collateral && data?.startsWith(TRANSFER)) {
      checks++;
      await behave('usual');
      isLifted = checks === 1;
    } else if (method === 'eth_blockNumber' && isLifted) {
      isLifted = false;
      await behave('reverts');
    }
  });
  await stage.match(yes, no, 10);
  await stage.soon('the operator has asked twice about a pause', async () => checks > 1);
  proxy.heal();
  await behave('usual');
  await restore();
  return [];
};

export const STORIES = {
  calm,
  twice,
  stuck,
  lateEvents,
  otherBranch,
  ownFills,
  refusing,
  expired,
  pausing,
} as const;
