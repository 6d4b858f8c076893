interface Phase {
  readonly name: string;
  /** Shown while the phase runs: "about a minute". */
  readonly hint?: string;
}

/**
 * Says the name before and the seconds after.
 * @throws the error of `work`; no time is shown then
 */
export function phase<T>(
  say: (line: string) => void,
  phase: Phase,
  work: () => Promise<T>,
): Promise<T>;
