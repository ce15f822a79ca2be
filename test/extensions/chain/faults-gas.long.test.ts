import { type Transaction, Wallet } from 'ethers';
import type { Limit, Trader } from '../../support/trader';
import { approval, tokenTransfer, transfer } from './deals';
import { type FaultWorld, startFaultWorld } from './fault-world';
import { type Hostile, makeHostile } from './hostile-collateral';
import { COLLATERAL, ONE } from './world';

/**
 * Faults of the operator's transactions and of the collateral, on an exchange as it is deployed: a transaction is
 * replaced, or its lane stops and the others go on, and no wallet is at fault.
 */
const LIMIT_MS = 600_000;
const RICH = `0x${(10n ** 21n).toString(16)}`;
const DEAR = `0x${(50n * 10n ** 9n).toString(16)}`;
const FAR: Limit = { side: 'SELL', outcome: 0, pips: 9_900, lots: 1_000 };

let faults: FaultWorld;
let alice: Trader;
let bob: Trader;
/** Transactions of lanes that are not ours. */
const outside: string[] = [];
const own: string[] = [];

beforeAll(async () => {
  faults = await startFaultWorld();
  [alice, bob] = [await faults.readyTrader(), await faults.readyTrader()];
}, LIMIT_MS);
afterEach(async () => {
  faults?.goOn();
  faults?.heal();
  for (const id of own.splice(0)) await faults.is(id, 'CONFIRMED');
  for (const one of [alice, bob])
    expect((await faults.shown(one)).standing).toMatchObject({ strikes: 0, suspendedUntil: null });
  const violations = await faults.check();
  const foreign = outside.filter((hash) =>
    violations.some((text) => text.endsWith(`not an intent: ${hash}`)),
  );
  expect([foreign, violations.length]).toEqual([outside, outside.length]);
}, LIMIT_MS);
afterAll(() => faults?.stop());

async function match(): Promise<string> {
  const id = await faults.match(alice, bob);
  own.push(id);
  return id;
}
const hashOf = (id: string): string => faults.watch.of(id)?.transactionHash ?? '';
const isSent = async (id: string): Promise<void> => {
  await faults.is(id, 'SUBMITTED');
  await faults.until('a node has the transaction', () => faults.sentWith(id).length > 0);
};
const nonceOf = async (address: string): Promise<number> =>
  Number(await faults.nodes.ask('eth_getTransactionCount', address, 'latest'));
const noncesOf = (id: string): number =>
  new Set(faults.sentWith(id).map(({ from, nonce }) => `${from} ${nonce}`)).size;
const setMoney = (address: string, money: string): Promise<unknown> =>
  faults.nodes.ask('anvil_setBalance', address, money);

test(
  'a transaction that the nodes drop is sent again, under its own nonce',
  async () => {
    await faults.halt();
    const id = await match();
    await isSent(id);
    await faults.nodes.ask('anvil_dropTransaction', hashOf(id));
    faults.goOn();
    await faults.is(id, 'CONFIRMED');
    expect(noncesOf(id)).toBe(1);
  },
  LIMIT_MS,
);

test(
  'while nodes refuse small raises, each attempt pays a tenth more than the one before, under one nonce',
  async () => {
    for (const proxy of faults.nodes.proxies) {
      proxy.swallow();
      proxy.refuseSmallBumps();
    }
    const id = await match();
    await faults.until('there are three attempts', () => faults.sentWith(id).length >= 3);
    faults.nodes.heal();
    for (const proxy of faults.nodes.proxies) proxy.refuseSmallBumps();
    await faults.is(id, 'CONFIRMED');
    const prices = faults.sentWith(id).map(({ maxFeePerGas, gasPrice }) => maxFeePerGas ?? gasPrice ?? 0n);
    const sorted = [...prices].sort((a, b) => (a < b ? -1 : 1));
    expect(sorted.slice(1).every((price, i) => price * 10n >= (sorted[i] ?? 0n) * 11n)).toBe(true);
    expect(noncesOf(id)).toBe(1);
  },
  LIMIT_MS,
);

test(
  'a transaction that the price of gas has left behind is raised to the price of now',
  async () => {
    await faults.halt();
    const id = await match();
    await isSent(id);
    for (let block = 0; block < 2; block++) {
      await faults.nodes.ask('anvil_setNextBlockBaseFeePerGas', DEAR);
      await faults.mine(1);
    }
    faults.goOn();
    await faults.is(id, 'CONFIRMED');
    expect(faults.sentWith(id).length).toBeGreaterThan(1);
    expect(noncesOf(id)).toBe(1);
  },
  LIMIT_MS,
);

test(
  'a lane without money for gas rests, and the other one sends; when both are poor, matches wait and none fails',
  async () => {
    const [first, second] = faults.lanes.map(({ address }) => address) as [string, string];
    await setMoney(first, '0x1');
    const id = await match();
    await faults.is(id, 'CONFIRMED');
    expect(new Set(faults.sentWith(id).map(({ from }) => from))).toEqual(new Set([second]));
    await setMoney(second, '0x1');
    const waits = await match();
    await faults.until('both lanes rest', () => {
      const said = faults.explain();
      return [first, second].every((lane) => said.includes(`the lane ${lane.toLowerCase()} rests`));
    });
    expect(faults.watch.of(waits)?.status).toBe('MATCHED');
    for (const lane of [first, second]) await setMoney(lane, RICH);
    await faults.is(waits, 'CONFIRMED');
  },
  LIMIT_MS,
);

/** Uses the lane's nonce for something else, for a price that replaces what waits. */
async function useOutside(address: string, nonce: number): Promise<void> {
  const lane = faults.lanes.find((one) => one.address === address);
  const wallet = new Wallet(lane?.key.privateKey ?? '');
  const bytes = await wallet.signTransaction({
    chainId: 97,
    nonce,
    to: faults.world.fees.address,
    value: 1n,
    type: 0,
    gasLimit: 21_000n,
    gasPrice: 500n * 10n ** 9n,
  });
  outside.push(String(await faults.nodes.ask('eth_sendRawTransaction', bytes)));
}

test(
  'a match whose nonce was used from outside is settled under another one',
  async () => {
    await faults.halt();
    const id = await match();
    await isSent(id);
    const [{ from, nonce }] = faults.sentWith(id) as [Transaction];
    await useOutside(from ?? '', nonce);
    faults.goOn();
    await faults.is(id, 'CONFIRMED');
    expect(noncesOf(id)).toBe(2);
    expect(faults.watch.statuses(id)).not.toContain('FAILED');
  },
  LIMIT_MS,
);

test(
  'a lane whose next nonce was used from outside stops, the other one sends, and a command adopts the nonce',
  async () => {
    const [first, second] = faults.lanes.map(({ address }) => address) as [string, string];
    await useOutside(first, await nonceOf(first));
    const stateOf = async (address: string): Promise<string> => {
      const lanes = await faults.shell.json('chain', 'lanes');
      return lanes.find((one: { address: string }) => one.address === address.toLowerCase()).state;
    };
    await faults.until('the lane stops', async () => (await stateOf(first)) === 'AHEAD');
    for (const id of [await match(), await match()]) {
      await faults.is(id, 'CONFIRMED');
      expect(new Set(faults.sentWith(id).map(({ from }) => from))).toEqual(new Set([second]));
    }
    await faults.shell.exchange('chain', 'adopt', first, '--yes');
    expect(await stateOf(first)).toBe('RUNNING');
    await setMoney(second, '0x1');
    const id = await match();
    await faults.is(id, 'CONFIRMED');
    expect(new Set(faults.sentWith(id).map(({ from }) => from))).toEqual(new Set([first]));
    await setMoney(second, RICH);
  },
  LIMIT_MS,
);

test(
  'tokens that a wallet gets from another one can be sold once they are final, and not before',
  async () => {
    const [giver, getter] = [await faults.readyTrader(1_000n * ONE), await faults.readyTrader(1_000n * ONE)];
    const { conditionId, outcomes } = faults.market();
    const tokens = outcomes.map(({ tokenId }) => BigInt(tokenId)) as [bigint, bigint];
    await faults.world.fund(giver.address, 0n, { conditionId, tokens }, 10n * ONE);
    let resting = '';
    await faults.until('the giver has an order', async () => {
      resting = (await faults.submit(giver, FAR)).body.orderHash ?? '';
      return resting !== '';
    });
    await faults.halt();
    const data = tokenTransfer(giver.address, getter.address, tokens[0], 10n * ONE);
    const { ctf, chain } = faults.world;
    await chain.ask('eth_sendTransaction', { from: giver.address, to: ctf, data, gas: '0x7a120' });
    await faults.mine(1);
    await faults.until('the giver loses the order', async () => {
      const { status, reason } = (await faults.client.get(`/orders/${resting}`)).body;
      return status === 'CANCELLED' && reason === 'FUNDS';
    });
    const early = await faults.submit(getter, FAR);
    expect(early.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE', asset: 'YES', available: '0' });
    await faults.mine(2);
    faults.goOn();
    await faults.until('the getter has an order', async () => {
      return (await faults.submit(getter, FAR)).body.status === 'OPEN';
    });
    const again = await faults.submit(giver, FAR);
    expect(again.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE', asset: 'YES', available: '0' });
    await getter.post('/me/orders/cancel-all');
  },
  LIMIT_MS,
);

test(
  'an allowance of 1 wei lets a wallet order nothing, and one of 10 and 1 wei no more than 10',
  async () => {
    const one = await faults.readyTrader(1_000n * ONE);
    const { chain, collateral } = faults.world;
    const bid = (pips: number): Limit => ({ side: 'BUY', outcome: 0, pips, lots: 1_000 });
    const allow = async (amount: bigint, available: string): Promise<void> => {
      await chain.send(one.address, collateral, approval(faults.world, amount));
      await faults.until(`the wallet may use ${available}`, async () => {
        return (await faults.shown(one)).collateral.available === available;
      });
    };
    await allow(1n, '0');
    expect((await faults.submit(one, bid(100))).body).toMatchObject({
      code: 'INSUFFICIENT_ALLOWANCE',
      required: '0.1',
      available: '0',
    });
    await allow(10n * ONE + 1n, '10');
    await faults.place(one, bid(4_000));
    const rest = await faults.submit(one, { ...bid(6_100), outcome: 1 });
    expect(rest.body).toMatchObject({ code: 'INSUFFICIENT_ALLOWANCE', required: '6.1', available: '6' });
    await one.post('/me/orders/cancel-all');
  },
  LIMIT_MS,
);

describe('collateral that behaves badly', () => {
  let hostile: Hostile;
  beforeAll(async () => {
    hostile = await makeHostile(faults.world);
  }, LIMIT_MS);
  afterAll(() => hostile?.restore());

  test.each(['reverts', 'takesFee'] as const)(
    'matches wait while it %s, no wallet is at fault, and each has as much as on the chain; then they are settled',
    async (mode) => {
      await hostile.behave(mode);
      const id = await match();
      await faults.until('the worker says why the match waits', () =>
        faults.explain().includes(`the settlement ${id} waits`),
      );
      expect(faults.watch.of(id)?.status).toBe('MATCHED');
      if (mode === 'takesFee') {
        const [giver, getter] = [await faults.readyTrader(50n * ONE), await faults.readyTrader(1n * ONE)];
        const { chain, collateral } = faults.world;
        await chain.send(giver.address, collateral, transfer(getter.address, 50n * ONE));
        await faults.until('the getter has what arrived', async () => {
          const { available } = (await faults.shown(getter)).collateral;
          expect(Number(available)).toBeLessThanOrEqual(50.5);
          return available === '50.5';
        });
        expect(await faults.world.balance(getter.address, COLLATERAL)).toBe((505n * ONE) / 10n);
      }
      await hostile.behave('usual');
      await faults.is(id, 'CONFIRMED');
    },
    LIMIT_MS,
  );
});
