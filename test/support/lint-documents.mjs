// Lints the documents on stdin, a JSON object by their names, by the recommended rules of Redocly and of Spectral;
// their faults as JSON on stdout: { name: { redocly: [text], spectral: [text] } }.
// In a process of its own: Redocly is a module of the kind that jest does not load, and Spectral loads slowly there.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import core from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

const { Document, Spectral } = core;
const { asyncapi, oas } = rulesets;

const WARNING = 1;
/** The exchange does not know its operator, or where it is. */
const NOT_OURS = 'asyncapi-info-contact-properties';

async function redocly(source) {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: '/document.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

async function spectral(source) {
  const linter = new Spectral();
  linter.setRuleset({ extends: [[JSON.parse(source).openapi ? oas : asyncapi, 'recommended']] });
  const results = await linter.run(new Document(source, parsers.Json, '/document.json'));
  return results
    .filter(({ severity, code }) => severity <= WARNING && code !== NOT_OURS)
    .map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`);
}

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const faults = {};
for (const [name, document] of Object.entries(JSON.parse(Buffer.concat(chunks).toString()))) {
  const source = JSON.stringify(document);
  faults[name] = { redocly: await redocly(source), spectral: await spectral(source) };
}
process.stdout.write(JSON.stringify(faults));
