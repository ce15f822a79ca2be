import { noteRun, type Timed } from '../store/health/runs';
import { type Command, EXIT } from './store';

/** Notes in Redis how the command ended, for the metrics, the console and the doctor. */
export const timed =
  (name: Timed, command: Command): Command =>
  async (given) => {
    const { store } = given;
    // The command ends as it would, also when a full or silent Redis takes no note of it.
    const note = (hasSucceeded: boolean): Promise<void> =>
      noteRun(store, name, hasSucceeded, store.clock.now()).catch(() => undefined);
    try {
      const code = await command(given);
      await note(code === EXIT.done);
      return code;
    } catch (error) {
      await note(false);
      throw error;
    }
  };
