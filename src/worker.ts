import './app/source-maps';
import { runProcess } from './app/process';
import { startWorker } from './app/worker';

runProcess('worker', startWorker);
