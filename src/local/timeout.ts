/** Returns the value, or null when it takes longer. */
export function withTimeout<T>(timeoutMs: number, value: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), timeoutMs);
    value.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
