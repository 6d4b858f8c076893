export interface VitestEntry {
  /** The file's absolute path. */
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

export interface VitestOutcome {
  readonly testResults: readonly VitestEntry[];
}

interface PlaywrightSuite {
  readonly title: string;
  readonly specs?: readonly {
    readonly title: string;
    readonly file: string;
    readonly tests: readonly {
      readonly status: string;
      readonly results: readonly { readonly error?: { readonly message: string } }[];
    }[];
  }[];
  readonly suites?: readonly PlaywrightSuite[];
}

/** @returns the files that are worth a second try, relative to `root`; none when there are more than ten of them */
export function filesToRepeat(options: {
  readonly report: VitestOutcome | null;
  readonly output: string;
  readonly root: string;
}): string[];

/** The report of the first run, in which the files that ran once more have their second results. */
export function withSecondTry(first: VitestOutcome, second: VitestOutcome | null): VitestOutcome;

/** A file that cannot be loaded counts as one failure. */
export function vitestCounts(report: VitestOutcome): { passed: number; failed: number };

/** Lines for the end of a run: what passed only at its second try, and what failed, each with its message. */
export function outcomeLines(options: {
  readonly vitest: readonly { readonly first: VitestOutcome | null; readonly last: VitestOutcome | null }[];
  readonly playwright: { readonly suites: readonly PlaywrightSuite[] } | null;
  readonly root: string;
}): string[];
