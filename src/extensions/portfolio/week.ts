const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970 began on a Thursday: its first Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** The start of the week that a moment is in: Monday, 00:00 UTC. */
export const weekOf = (atMs: number): number => atMs - ((atMs - FIRST_MONDAY_MS) % WEEK_MS);

/** The start of the week after the one that starts then. */
export const nextWeek = (fromMs: number): number => fromMs + WEEK_MS;
