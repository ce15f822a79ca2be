/** Replaces dist/worker.js. */
const { appendFileSync } = require('node:fs');

const { JWT_SECRET, REDIS_URL, NOTES } = process.env;
appendFileSync(NOTES, `worker ${process.pid} ${JSON.stringify({ JWT_SECRET, REDIS_URL })}\n`);
setInterval(() => undefined, 1000);
