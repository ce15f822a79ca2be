/** Builds when a source is newer than dist, then hands over to src/local/start.ts. */
const { build, isStale } = require('./build.js');

async function main() {
  if (isStale()) {
    process.stdout.write('building (a few seconds)\n');
    build();
  }
  await require('../dist/local/start.js').start();
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
