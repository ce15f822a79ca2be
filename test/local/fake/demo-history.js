/** Stands in for dist/demo-history.js. */
const { appendFileSync } = require('node:fs');

const { NOTES, REDIS_URL } = process.env;
appendFileSync(NOTES, `history ${process.pid} ${JSON.stringify({ REDIS_URL })}\n`);
