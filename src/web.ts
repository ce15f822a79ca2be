import './app/source-maps';
import { startWeb } from './app/app';
import { runProcess } from './app/process';

runProcess('web', startWeb);
