/** Replaces dist/web.js: it does as much as `npm start` needs, and writes its environment to a file. */
const { createServer } = require('node:http');
const { appendFileSync } = require('node:fs');

const note = (line) => appendFileSync(process.env.NOTES, `${line}\n`);
const { PORT, PUBLIC_BASE_URL, REDIS_URL, JWT_SECRET, ADMIN_TOKEN, LOG_LEVEL } = process.env;
const { FAIL_AFTER_MS, IGNORE_TERM, REFUSE } = process.env;
const told = { PORT, PUBLIC_BASE_URL, REDIS_URL, JWT_SECRET, ADMIN_TOKEN, LOG_LEVEL };
note(`web ${process.pid} ${JSON.stringify(told)}`);

let asked = 0;
createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    if (request.url === '/readyz') response.statusCode = ++asked < 3 ? 503 : 200;
    else if (request.method === 'GET') response.statusCode = request.url === '/docs' ? 200 : 404;
    else {
      const allowed = request.headers.authorization === `Bearer ${ADMIN_TOKEN}` && REFUSE !== '1';
      response.statusCode = allowed ? 201 : 401;
      note(`${request.url} ${body}`);
    }
    response.end('{}');
  });
}).listen(Number(PORT));

process.on('SIGTERM', () => {
  note('web told to stop');
  if (IGNORE_TERM !== '1') process.exit(0);
});
if (FAIL_AFTER_MS) {
  setTimeout(() => {
    process.stderr.write('web cannot go on\n');
    process.exit(3);
  }, Number(FAIL_AFTER_MS));
}
