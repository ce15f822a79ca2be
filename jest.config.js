const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/translate.js' },
  // What tests hear of the exchange is compared with what it says of itself.
  setupFilesAfterEnv: ['<rootDir>/test/support/watch.ts'],
  moduleNameMapper: {
    '^ajv$': '<rootDir>/test/support/ajv-outside.js',
    '^ethers$': '<rootDir>/test/support/ethers-outside.js',
    '^socket.io-client$': '<rootDir>/test/support/socket-client.ts',
    // Its sources: what is tested needs no build.
    '^ctf-exchange-client$': '<rootDir>/packages/client/src/index.ts',
    '^ctf-exchange-client/safe$': '<rootDir>/packages/client/src/safe.ts',
  },
  // One more than there are processors: much of what the tests do is waiting. With two more, web processes on two
  // processors were late enough to answer 503.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  cacheDirectory: '<rootDir>/.cache/jest',
  // Waits have limits of their own, which name what is missing; this one ends a test that hangs.
  testTimeout: 300_000,
};
