import { startWorker } from './app';
import { runProcess } from './run';

runProcess('worker', startWorker);
