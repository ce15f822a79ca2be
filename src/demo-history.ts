import { runTask } from './app/process';
import { inventHistory } from './invent-history';

runTask('demo-history', inventHistory);
