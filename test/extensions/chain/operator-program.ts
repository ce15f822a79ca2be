import { startTestOperator, type TestOperatorOptions } from './operator';

/**
 * An operator in a process of its own, started by `startScript`. It reads its options from OPERATOR, and ends itself with
 * SIGKILL at the step that KILL_AT names.
 */
const options = JSON.parse(process.env.OPERATOR ?? '{}') as Omit<TestOperatorOptions, 'onError' | 'onStep'>;
const killAt = process.env.KILL_AT ?? '';

startTestOperator({
  ...options,
  onError: (message) => process.stderr.write(`${message}\n`),
  onStep(step) {
    if (step === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
