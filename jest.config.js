const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // What tests hear of the exchange is compared with what it says of itself.
  setupFilesAfterEnv: ['<rootDir>/test/support/watch.ts'],
  moduleNameMapper: { '^socket.io-client$': '<rootDir>/test/support/socket-client.ts' },
  // Each worker may have a Redis or two beside it.
  maxWorkers: Math.min(4, Math.max(1, availableParallelism())),
  cacheDirectory: '<rootDir>/.cache/jest',
  testTimeout: 30_000,
};
