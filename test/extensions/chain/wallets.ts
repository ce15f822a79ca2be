/** Wallets that are contracts, for tests on a chain. */
export { delegateHostile, deployHostile, type Hostile, type HostileKind } from './hostile-wallets';
export { deployKernel, futureKernel, type Kernel } from './kernel-wallets';
export { deploySafe, futureSafe, type Safe } from './safe-wallets';
export { type Call, type ContractWallet, wrapped } from './wallet-parts';
