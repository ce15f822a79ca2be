/** races.test.ts in its long form: whole samples and larger sizes (test/support/sample.ts). */
import './races.test';
