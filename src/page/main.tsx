import { render } from 'preact';
import { Root } from './app';

const root = document.getElementById('app');
if (root) render(<Root />, root);
