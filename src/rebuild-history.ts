import { rebuildHistory } from './app';
import { runTask } from './run';

runTask('rebuild-history', rebuildHistory);
