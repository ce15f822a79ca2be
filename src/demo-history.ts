import { inventHistory } from './invent-history';
import { runTask } from './run';

runTask('demo-history', inventHistory);
