// Lints the documents on stdin, a JSON object by their names, by the recommended rules of Redocly; their faults as JSON on
// stdout: { name: [text] }. In a process of its own, because Redocly is a module of the kind that jest does not load.
import { createConfig, lintFromString } from '@redocly/openapi-core';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const config = await createConfig({ extends: ['recommended'] });
const faults = {};
for (const [name, document] of Object.entries(JSON.parse(Buffer.concat(chunks).toString()))) {
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: '/document.json', config });
  faults[name] = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
  );
}
process.stdout.write(JSON.stringify(faults));
