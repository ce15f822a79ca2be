import { chosenTheme, paint } from './theme-choice';

paint(chosenTheme());
