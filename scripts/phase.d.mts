interface Phase {
  readonly name: string;
  /** Expected duration, which is shown while the phase runs, for instance "about a minute". */
  readonly hint?: string;
}

/**
 * Prints the phase's name before `work` runs, and the seconds that `work` took afterwards.
 * @throws the error of `work`; no time is printed then
 */
export function phase<T>(
  say: (line: string) => void,
  phase: Phase,
  work: () => Promise<T>,
): Promise<T>;
