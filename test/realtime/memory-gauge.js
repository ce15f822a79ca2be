/**
 * Preloaded into a replica (node --expose-gc): at SIGUSR2 it prints how many bytes of JavaScript and of buffers it
 * holds after a collection. The memory that a process has of its machine rises and falls with the garbage.
 */
process.on('SIGUSR2', () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heldBytes: heapUsed + external })}\n`);
});
