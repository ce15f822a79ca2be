/**
 * Preloaded into a replica (node --expose-gc): at SIGUSR2 it prints the bytes of JavaScript and of buffers that remain after
 * a collection. The resident memory of the process also varies with the garbage.
 */
process.on('SIGUSR2', () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heldBytes: heapUsed + external })}\n`);
});
