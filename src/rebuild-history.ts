import { rebuildHistory } from './app/app';
import { runTask } from './app/process';

runTask('rebuild-history', rebuildHistory);
