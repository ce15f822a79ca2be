import { render } from 'preact';
import { Root } from './app';

const root = document.getElementById('app');
// The static content is only for the time of loading.
root?.replaceChildren();
if (root) render(<Root />, root);
