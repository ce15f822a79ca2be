import './app/source-maps';
import { startDemo } from './demo/demo';

/** The bots of the demo, in their own process: `node dist/demo.js <URL of the exchange>`. */
const STOP_MS_MAX = 2_500;

const say = (line: string): void => void process.stderr.write(`demo: ${line}\n`);

function end(error: unknown): void {
  say(String(error instanceof Error ? error.stack : error));
  process.exit(1);
}

const starting = startDemo({ baseUrl: process.argv[2] ?? 'http://localhost:3000', say });
starting.then((demo) => demo.failed).catch(end);

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    // The exchange may be stopping as well.
    setTimeout(() => process.exit(0), STOP_MS_MAX).unref();
    void starting.then((demo) => demo.stop()).finally(() => process.exit(0));
  });
}
