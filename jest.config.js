const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  testRunner: '<rootDir>/test/support/runner.js',
  // What is outside the sandbox is used by the next file, too.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/shim.js' },
  // What tests receive from the exchange is compared with its documents.
  setupFilesAfterEnv: ['<rootDir>/test/support/hooks.ts'],
  // One more than there are processors: much of what the tests do is waiting. With two more, web processes on two
  // processors were late enough to answer 503.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  cacheDirectory: '<rootDir>/.cache/jest',
  // Waits have limits of their own, which name what is missing; this one ends a test that hangs.
  testTimeout: 300_000,
};
