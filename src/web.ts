import { startWeb } from './app';
import { runProcess } from './run';

runProcess('web', startWeb);
