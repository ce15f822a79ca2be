/** Replaces dist/demo.js. */
const { appendFileSync } = require('node:fs');

const { NOTES, ADMIN_TOKEN, JWT_SECRET, REDIS_URL } = process.env;
const told = { baseUrl: process.argv[2], ADMIN_TOKEN, JWT_SECRET, REDIS_URL };
appendFileSync(NOTES, `demo ${process.pid} ${JSON.stringify(told)}\n`);
setInterval(() => undefined, 1000);
