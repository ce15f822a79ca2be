import { noteRun, type Timed } from '../store/health/runs';
import { type Command, EXIT } from './store';

/** Notes in Redis how the command ended, for the metrics, the doctor and the console. */
export const timed =
  (name: Timed, command: Command): Command =>
  async (given) => {
    const { store } = given;
    const note = (hasSucceeded: boolean): Promise<void> =>
      noteRun(store, name, hasSucceeded, store.clock.now());
    try {
      const code = await command(given);
      await note(code === EXIT.done);
      return code;
    } catch (error) {
      // The failure itself is reported, also when it could not be noted.
      await note(false).catch(() => undefined);
      throw error;
    }
  };
