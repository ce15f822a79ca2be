/** Runs a handler of the user. What it throws stops nothing here, and reaches the runtime as an uncaught error. */
export function callUser(act: () => void): void {
  try {
    act();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
