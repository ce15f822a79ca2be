/** The reads of the operator's page, and the board of the queues. */
export const CONSOLE_PATHS = {
  overview: '/admin/overview',
  resolution: '/admin/markets/{id}/resolution',
  accountOrders: '/admin/accounts/{address}/orders',
  queues: '/admin/queues',
} as const;
