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
  // Each worker may have a Redis or two beside it.
  maxWorkers: Math.min(4, Math.max(1, availableParallelism())),
  cacheDirectory: '<rootDir>/.cache/jest',
  testTimeout: 30_000,
};
