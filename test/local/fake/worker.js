/** Replaces dist/worker.js. */
const { appendFileSync } = require('node:fs');

const { ADMIN_TOKEN, JWT_SECRET, REDIS_URL, NOTES } = process.env;
appendFileSync(NOTES, `worker ${process.pid} ${JSON.stringify({ ADMIN_TOKEN, JWT_SECRET, REDIS_URL })}\n`);
setInterval(() => undefined, 1000);
