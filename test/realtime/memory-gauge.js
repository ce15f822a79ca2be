/**
 * Preloaded into a replica (node --expose-gc): at SIGUSR2 it says how many bytes it holds, of JavaScript and of buffers, when
 * all that nobody holds is gone. The memory that a process has of its machine rises and falls with the garbage.
 */
process.on('SIGUSR2', () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heldBytes: heapUsed + external })}\n`);
});
