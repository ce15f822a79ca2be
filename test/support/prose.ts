/** A verb in its finite form: a text without one is a fragment. */
const VERB =
  /\b(?:is|are|was|were|must|may|can|cannot|could|do|does|did|has|have|had|belongs|contains|needs|requires|reached|repeats|pays|looks|exists|holds|changes|fits)\b/;
/** An error says what to do: by a rule, or in a part of its own. */
const ADVICE = /\b(?:must|may|needs|requires|required)\b|[;:.] \S/;

/** Whether the text of an error says what happened, and then what to do. */
export const isWholeError = (text: string): boolean => VERB.test(text) && ADVICE.test(text);
