/** Every path of the interface, once. `{name}` is a parameter; OpenAPI, the routes and the tests read them from here. */
export const PATHS = {
  nonce: '/auth/nonce/{wallet_address}',
  verify: '/auth/verify',
  refresh: '/auth/refresh',
  logout: '/auth/logout',

  markets: '/markets',
  categories: '/categories',
  market: '/markets/{id}',
  trading: '/markets/{id}/trading',
  orderbook: '/markets/{id}/orderbook',
  ticker: '/markets/{id}/ticker',
  priceHistory: '/markets/{id}/price-history',
  trades: '/markets/{id}/trades',

  submit: '/markets/{id}/orders',
  batch: '/markets/{id}/orders/batch',
  cancel: '/markets/{id}/orders/cancel',
  cancelAll: '/markets/{id}/orders/cancel-all',
  order: '/orders/{order_hash}',
  cancelByHash: '/orders/{order_hash}/cancel',
  cancelList: '/orders/cancel',

  split: '/markets/{id}/split',
  merge: '/markets/{id}/merge',
  myOrders: '/me/orders',
  myCancelAll: '/me/orders/cancel-all',
  myBalances: '/me/balances',
  faucet: '/me/faucet',

  adminMarkets: '/admin/markets',
  adminOpen: '/admin/markets/{id}/open',
  adminPause: '/admin/markets/{id}/pause',
  adminResume: '/admin/markets/{id}/resume',
  adminClose: '/admin/markets/{id}/close',
  adminSettlements: '/admin/settlements',
  adminQueues: '/admin/queues',

  livez: '/livez',
  readyz: '/readyz',
  config: '/config',
  time: '/time',
} as const;
