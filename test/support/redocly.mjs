// Lints the document on stdin with Redocly's recommended rules; its faults as a JSON list of texts on stdout.
// Redocly is a module of the new kind, which jest does not load.
import { createConfig, lintFromString } from '@redocly/openapi-core';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const config = await createConfig({ extends: ['recommended'] });
const source = Buffer.concat(chunks).toString();
const problems = await lintFromString({ source, absoluteRef: '/document.json', config });
const faults = problems.map(
  ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
);
process.stdout.write(JSON.stringify(faults));
