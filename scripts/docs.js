/**
 * `npm run docs`: writes the tables of docs/use/endpoints.md and docs/run/operations.md, and the types of the Python client, from the
 * build; tests compare them.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { pythonTypes } = require('./python-types.js');

const ROOT = path.join(__dirname, '..');
const WHO = { none: 'anyone', optional: 'anyone*', required: 'wallet', admin: 'operator' };

const listed = (routes) => routes.map((route) => `\`${route}\``).join(' or ');

const costWords = ({ bucket, words }) => (bucket === null ? words : `\`${bucket}\`: ${words}`);

/** Rows by page. Each begins with code or a group in bold, unlike the rows of other tables of the page. */
function tables({ api, VARIABLE_GROUPS, ...costs }) {
  return {
    'docs/use/endpoints.md': [
      ...Object.entries(api.operations).map(
        ([key, { bearer = 'none', summary }]) =>
          `| \`${key}\` | ${WHO[bearer]} | ${summary} | ${costWords(costs.costOf(api, key))} |`,
      ),
      ...Object.entries(api.pageCosts).map(
        ([path, points]) => `| \`${path}\` | anyone | A page, or its picture | ${points} of \`reads\` |`,
      ),
      ...Object.entries(costs.ORDER_ROUTES).map(
        ([event, routes]) => `| \`${event}\` | wallet | A message of a socket | that of ${listed(routes)} |`,
      ),
      ...Object.entries(costs.MESSAGE_COSTS).map(
        ([event, words]) => `| \`${event}\` | anyone | A message of a socket | ${words} |`,
      ),
    ],
    'docs/run/operations.md': Object.entries(VARIABLE_GROUPS).flatMap(([group, variables]) => [
      `| **${group}** | | |`,
      ...Object.entries(variables).map(
        ([name, { fallback, doc }]) =>
          `| \`${name}\` | ${fallback === null ? '' : `\`${fallback}\``} | ${doc} |`,
      ),
    ]),
  };
}

const ROWS = /^(?:\| [`*].*\n)+/m;

module.exports = { tables, ROWS };

if (require.main === module) {
  const { EXTENSIONS, apiOf } = require('../dist/app/extensions.js');
  const api = apiOf(EXTENSIONS);
  const { VARIABLE_GROUPS } = require('../dist/config/variables.js');
  const { costOf, MESSAGE_COSTS } = require('../dist/wire/costs.js');
  const { ORDER_ROUTES } = require('../dist/wire/requests/order-entry.js');
  const costs = { costOf, MESSAGE_COSTS, ORDER_ROUTES };
  for (const [page, rows] of Object.entries(tables({ api, VARIABLE_GROUPS, ...costs }))) {
    const file = path.join(ROOT, page);
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(ROWS, () => `${rows.join('\n')}\n`),
    );
  }
  writeFileSync(path.join(ROOT, 'clients/python/ctf_exchange/types.py'), pythonTypes(api.schemas));
}
