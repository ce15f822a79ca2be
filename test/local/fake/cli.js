/** Replaces dist/cli.js, of which `npm start` runs one command. */
const { appendFileSync } = require('node:fs');

const { NOTES, REDIS_URL } = process.env;
const [command] = process.argv.slice(2);
appendFileSync(NOTES, `${command} ${process.pid} ${JSON.stringify({ REDIS_URL })}\n`);
