import { AbiCoder, keccak256, toBeHex } from 'ethers';
import { type Market, ONE, type World } from './world';

/** The balance of an equipped wallet, of each asset. */
export const RICH = 100n * ONE;
const MAX = 2n ** 256n - 1n;

const coder = AbiCoder.defaultAbiCoder();
/** The slot of a mapping's value. */
const slotOf = (type: string, key: unknown, slot: string): string =>
  keccak256(coder.encode([type, 'uint256'], [key, slot]));

/**
 * Balances and approvals written into the storage of both token contracts, because thousands of transactions would take
 * a minute: OpenZeppelin's ERC-20 has balances and allowances first, the framework its balances and approvals after a mapping.
 */
export async function equip(
  world: World,
  market: Market,
  wallets: readonly string[],
  isKnown: boolean,
  gives: 'cash' | 'tokens',
) {
  const words: [string, string, bigint][] = [];
  for (const wallet of wallets) {
    const allowances = slotOf('address', wallet, '0x01');
    const approvals = slotOf('address', wallet, '0x02');
    words.push([world.collateral, slotOf('address', world.exchange, allowances), MAX]);
    words.push([world.ctf, slotOf('address', world.exchange, approvals), 1n]);
    if (isKnown || gives === 'cash') words.push([world.collateral, slotOf('address', wallet, '0x00'), RICH]);
    if (!isKnown && gives === 'cash') continue;
    for (const token of market.tokens) {
      const balances = slotOf('uint256', token, '0x01');
      words.push([world.ctf, slotOf('address', wallet, balances), RICH]);
    }
  }
  const word = (value: bigint): string => toBeHex(value, 32);
  await Promise.all(
    words.map(([where, slot, value]) => world.chain.ask('anvil_setStorageAt', where, slot, word(value))),
  );
}
