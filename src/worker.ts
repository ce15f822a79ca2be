import './app/source-maps';
import { startWorker } from './app/app';
import { runProcess } from './app/process';

runProcess('worker', startWorker);
