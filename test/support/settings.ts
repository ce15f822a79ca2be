/** The secrets and the environment of every exchange that a test starts. */
export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789';
export const JWT_SECRET = 'jwt-secret-of-the-tests-0123456789abcdef';

/** A test that needs another value spreads this and overrides it. Rate limits are off. */
export const ENVIRONMENT = {
  NODE_ENV: 'test',
  PORT: '0',
  PUBLIC_BASE_URL: 'https://exchange.test',
  JWT_SECRET: `k1:${JWT_SECRET}`,
  ADMIN_TOKEN,
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'info',
} as const;
