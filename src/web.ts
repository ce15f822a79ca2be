import './app/source-maps';
import { runProcess } from './app/process';
import { startWeb } from './app/web';

runProcess('web', startWeb);
