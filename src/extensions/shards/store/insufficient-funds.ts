import { Refusal } from '../../../exchange/errors';
import { parseScaled } from '../../../exchange/units';
import { scriptRefusal } from '../../../store/redis/refusals';

/** A refusal because the collateral is too little. */
export interface InsufficientFunds {
  readonly requiredMicro: number;
  readonly availableMicro: number;
}

const MICRO_DECIMALS = 6;
/** The code of the asset (lua/lib/ledger.lua). */
const COLLATERAL = 0;

export const insufficient = ({ requiredMicro }: InsufficientFunds, totalMicro: number): Refusal =>
  scriptRefusal('INSUFFICIENT_BALANCE', [requiredMicro, totalMicro, COLLATERAL]);

/** The command's answer, or the collateral that it lacks. Tokens are in the shard of their market alone. */
export async function attempt<T>(
  command: () => Promise<T>,
): Promise<{ readonly done: T } | InsufficientFunds> {
  try {
    return { done: await command() };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'INSUFFICIENT_BALANCE') throw error;
    const { asset, required, available } = error.extra;
    if (asset !== 'COLLATERAL') throw error;
    return { requiredMicro: microOf(required), availableMicro: microOf(available) };
  }
}

const microOf = (text: unknown): number => Number(parseScaled(String(text), MICRO_DECIMALS));
