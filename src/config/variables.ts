import { PAPER_MAKERS_MAX } from './chain';
import {
  flag,
  matching,
  oneOf,
  parseAdminTokens,
  parseAmount,
  parseArchiveUrl,
  parseBaseUrl,
  parseCertificates,
  parseContractAddress,
  parseExtensions,
  parseGasPrice,
  parseHost,
  parseJwtSecrets,
  parseOperatorAddresses,
  parseOrigins,
  parsePrivateKey,
  parsePrivateKeys,
  parsePublicUrl,
  parseRedisUrls,
  parseRpcUrls,
  parseSignerUrl,
  parseTrustProxy,
  shardCount,
  wholeNumber,
} from './values';

export interface Variable<T> {
  /** Used when the variable is unset or empty; null makes the value null. */
  readonly fallback: string | null;
  /** Throws BadValue. */
  readonly parse: (text: string) => T;
  readonly doc: string;
  /** Its value is never printed. */
  readonly secret?: true;
  /** Where the variable must be set; `https`: in production behind a proxy that ends TLS. */
  readonly requiredOn?: 'production' | 'mainnet' | 'https';
  /** The one kind of process that reads it: others do without it, also where it is required. */
  readonly readBy?: 'web' | 'worker';
}

function variable<T>(
  fallback: string,
  parse: (text: string) => T,
  doc: string,
  more: Partial<Variable<T>> = {},
): Variable<T> {
  return { fallback, parse, doc, ...more };
}
function optional<T>(
  parse: (text: string) => T,
  doc: string,
  more: Partial<Variable<T>> = {},
): Variable<T | null> {
  return { fallback: null, parse, doc, ...more };
}

const RESOLVE_DELAY_MAX_S = 604_800;
const secret = { secret: true } as const;
const onMainnet = { requiredOn: 'mainnet' } as const;

type Table = Readonly<Record<string, Variable<unknown>>>;

/** What a first deployment sets or leaves as it is. */
const FIRST = {
  NODE_ENV: variable(
    'development',
    oneOf('development', 'production', 'test'),
    'development, production or test',
  ),
  PORT: variable('3000', wholeNumber(0, 65_535), 'where web listens; 0 takes any free port'),
  HOST: optional(
    parseHost,
    'the IP address that web listens at, such as 127.0.0.1 with a proxy on the same machine; unset: every address',
  ),
  REDIS_URL: optional(
    parseRedisUrls,
    'redis:// or rediss://; a comma-separated list is a cluster; redis+sentinel://host:port,host:port/<name of the primary> asks Sentinels; required in production (else redis://127.0.0.1:6379, and under npm start an embedded server)',
    { ...secret, requiredOn: 'production' },
  ),
  PUBLIC_BASE_URL: optional(
    parsePublicUrl,
    'what clients call, without a path; gives the SIWE domain and uri; web requires it in production (else http://localhost:PORT)',
    { requiredOn: 'production', readBy: 'web' },
  ),
  TRUST_PROXY: variable(
    'off',
    parseTrustProxy,
    'off, the number of proxies in front, or a list of their addresses; required in production when PUBLIC_BASE_URL is https',
    { requiredOn: 'https', readBy: 'web' },
  ),
  JWT_SECRET: optional(
    parseJwtSecrets,
    'at least 32 bytes, or a kid:secret list (first signs, all verify); the same for all web processes, which require it in production (else random); no other process reads it',
    { ...secret, requiredOn: 'production', readBy: 'web' },
  ),
  ADMIN_TOKEN: optional(
    parseAdminTokens,
    'opens the admin routes, at least 32 characters, or a list with the next one while it changes; unset, they answer 404',
    { ...secret, readBy: 'web' },
  ),
  NETWORK: variable('testnet', oneOf('mainnet', 'testnet'), 'mainnet (chain 56) or testnet (chain 97)'),
  FUNDS: variable(
    'paper',
    oneOf('paper', 'chain'),
    'paper: a ledger in Redis; chain: balances and settlement on NETWORK (docs/run/chain.md)',
  ),
  PAPER_GRANT: variable(
    '10000',
    parseAmount,
    'what a wallet gets once, when first seen, at most 1000000; with FUNDS=chain what the faucet of a test network mints',
  ),
  EXTENSIONS: variable(
    'all',
    parseExtensions,
    'the optional parts of the exchange: all, none, or a list of names (docs/inside/architecture.md)',
  ),
} as const satisfies Table;

/** Settings whose defaults suit most deployments. */
const SETTINGS = {
  REDIS_TLS_CA: optional(
    parseCertificates,
    'for rediss://: the CA of the Redis, or its own certificate, as PEM; line ends may be written as \\n',
  ),
  DURABILITY: optional(
    oneOf('always', 'everysec', 'replicated'),
    'replicated answers only what replicas have on their disks (docs/run/durability.md); always or everysec: what the provider of a Redis that hides its settings promises; else it counts as unknown',
  ),
  REDIS_REPLICAS: variable(
    '1',
    wholeNumber(1, 5),
    'with DURABILITY=replicated: the replicas that must have on their disks what is answered; behind Sentinels all that follow',
  ),
  ALLOW_WEAK_DURABILITY: variable(
    '0',
    flag,
    '1 lets production run on a Redis that may lose what it answered (not appendfsync always) or evict records',
  ),
  CORS_ORIGINS: variable('*', parseOrigins, '*, none, or a comma-separated list of origins'),
  RATE_LIMIT: variable('on', flag, 'on or off'),
  OPERATOR_ADDRESSES: optional(
    parseOperatorAddresses,
    'clients that /admin, /metrics and /operate exist for, any or a list of addresses, ranges, loopback, linklocal, uniquelocal; unset: these three in production, else any',
  ),
  RESOLVE_DELAY: optional(
    wholeNumber(0, RESOLVE_DELAY_MAX_S),
    'seconds from the result of a market to the payout, in which an operator can take it back, 0 to 604800; unset: 600 in production, else 0',
  ),
  GRANT_ON: variable(
    'first-order',
    oneOf('first-order', 'sign-in'),
    'what a wallet gets PAPER_GRANT for; with sign-in a wallet that never signed in has nothing, and leaves nothing behind',
  ),
  MATCH_MAKERS_MAX: variable(
    String(PAPER_MAKERS_MAX),
    wholeNumber(1, 1000),
    'makers one step of a submission may meet, 1 to 1000; with FUNDS=chain at most 256, which is also the default there',
  ),
  BROADCAST_INTERVAL_MS: variable(
    '25',
    wholeNumber(0, 10_000),
    'at most one book update per market in this time',
  ),
  LOG_LEVEL: variable(
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'fatal to trace, or silent; npm start takes warn',
  ),
  METRICS_PORT: optional(
    wholeNumber(0, 65_535),
    'where a worker answers GET /metrics, /livez and /readyz; unset: nowhere (web answers them on PORT)',
  ),
  METRICS_HOST: optional(
    parseHost,
    'the IP address that a worker listens at for METRICS_PORT; unset: every address',
  ),
  DRAIN_MS: variable(
    '1500',
    wholeNumber(0, 60_000),
    'how long web fails /readyz and serves on before it stops; the time that a load balancer needs to notice',
  ),
  EXCHANGE_ADDRESS: variable(
    '0x88bB4DF483b67E0c665E0b7cAEE8d6456A816EDD',
    parseContractAddress,
    'verifyingContract of the orders; a fixed test address on testnet, required on mainnet and with FUNDS=chain',
    onMainnet,
  ),
  COLLATERAL_ADDRESS: variable(
    '0x7D832153CCA8836D41e77E83c71f82eb05eD6Dbd',
    parseContractAddress,
    'the collateral ERC-20; a fixed test address on testnet, required on mainnet and with FUNDS=chain',
    onMainnet,
  ),
  CONDITIONAL_TOKENS_ADDRESS: variable(
    '0xec6894612b2CEE4B6bBb7D0f6E1a5865e2e7Aa02',
    parseContractAddress,
    'the conditional tokens; a fixed test address on testnet, required on mainnet and with FUNDS=chain',
    onMainnet,
  ),
  EIP712_NAME: variable(
    'Market CTF Exchange',
    matching(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable characters'),
    'name in the EIP-712 domain of the orders',
  ),
  COLLATERAL_DECIMALS: variable('18', wholeNumber(6, 36), 'decimals of the collateral on chain, 6 to 36'),
  CHAIN_RPC_URL: optional(
    parseRpcUrls,
    'JSON-RPC endpoints of the chain, separated by commas, your own node first; required with FUNDS=chain, two or more on mainnet; with paper funds they let contract wallets sign, and two are safer than one',
    secret,
  ),
  DEMO: variable('0', flag, '1 opens demo markets; npm start takes 1'),
} as const satisfies Table;

/** Those of extensions. */
const SITE = {
  SERVE_UI: variable('1', flag, 'the trading page at /: 1 or 0'),
} as const satisfies Table;

const ARCHIVE = {
  ARCHIVE_URL: optional(
    parseArchiveUrl,
    'postgres:// of the archive that orders leave Redis for once they are over; unset: they stay',
    secret,
  ),
  ARCHIVE_KEEP_MONTHS: optional(
    wholeNumber(1, 1_200),
    'full months after which the archive drops a month of what is in it, besides the present one; unset: never',
  ),
} as const satisfies Table;

const SHARDS = {
  SHARDS: variable(
    '1',
    shardCount,
    'the number of shards that markets are spread over, 1, 2, 4, 8, 16, 32 or 64; the same for all processes; exchange shards grow raises it (docs/run/scaling.md)',
  ),
} as const satisfies Table;

const CHAIN = {
  OPERATOR_KEYS: optional(
    parsePrivateKeys,
    'for a worker with FUNDS=chain: private keys that settle, separated by commas, one for each lane; on mainnet only with ALLOW_HOT_KEYS',
    { ...secret, readBy: 'worker' },
  ),
  OPERATOR_SIGNER_URL: optional(
    parseSignerUrl,
    'for a worker with FUNDS=chain, instead of OPERATOR_KEYS: a Web3Signer that holds the keys',
    { ...secret, readBy: 'worker' },
  ),
  ALLOW_HOT_KEYS: variable('0', flag, '1 lets mainnet run with private keys in OPERATOR_KEYS and ORACLE_KEY'),
  ORACLE_KEY: optional(
    parsePrivateKey,
    'for a worker with FUNDS=chain: private key of the oracle, which reports results; unset: results are followed on the chain',
    { ...secret, readBy: 'worker' },
  ),
  ORACLE_ADDRESS: optional(
    parseContractAddress,
    'the oracle of new markets that name none; required with FUNDS=chain',
  ),
  CHAIN_PUBLIC_RPC_URL: optional(
    parseBaseUrl,
    'a JSON-RPC endpoint for everybody, without an access key, which GET /config shows; unset: wallets bring their own',
  ),
  CHAIN_CONFIRMATIONS: optional(
    wholeNumber(1, 100_000),
    'blocks after which a block counts as final, for nodes without the tag finalized; unset: the tag',
  ),
  CHAIN_START_BLOCK: optional(
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
    'the block of the exchange contract: a worker with an empty Redis reads the settlements since, and halts when there are any; unset: it begins at the newest final block',
  ),
  GAS_PRICE_MAX: variable('5', parseGasPrice, 'the most that a settlement may pay for gas, in gwei'),
  UNSETTLED_MAX_NEW: variable(
    '100',
    parseAmount,
    'with FUNDS=chain: the value of fills that a new wallet may have waiting for the chain with its next order; ten times that with its open orders',
  ),
  FRESH_FUNDS_MAX: variable(
    '20',
    parseAmount,
    'with FUNDS=chain: the value of funds that came into a wallet in the last 50 final blocks which its orders may use at once; 0 is no limit',
  ),
  CONTRACTS_AUDIT: optional(
    matching(/^[\x20-\x7e]{8,200}$/, 'must be 8 to 200 printable characters'),
    'who audited the exchange contract, when, and where the report is; required with FUNDS=chain on mainnet',
  ),
} as const satisfies Table;

/** The groups of docs/run/operations.md, by what they are for. */
export const VARIABLE_GROUPS = {
  'a first deployment': FIRST,
  'other settings': SETTINGS,
  'the trading page': SITE,
  'the archive': ARCHIVE,
  'several shards': SHARDS,
  'funds on a chain': CHAIN,
} as const satisfies Record<string, Table>;

/** Every variable. Each has a line in .env.example and a row in docs/run/operations.md. */
export const VARIABLES = { ...FIRST, ...SETTINGS, ...SITE, ...ARCHIVE, ...SHARDS, ...CHAIN };
