interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly fullName: string; readonly duration?: number | null }[];
  }[];
}

interface PlaywrightSuite {
  readonly title: string;
  readonly specs?: readonly {
    readonly title: string;
    readonly file: string;
    readonly tests: readonly { readonly results: readonly { readonly duration: number }[] }[];
  }[];
  readonly suites?: readonly PlaywrightSuite[];
}

/** Lines for people; none when no report has a test. A report that is missing is null. */
export function slowestLines(options: {
  readonly vitest: readonly (VitestReport | null)[];
  readonly playwright: { readonly suites: readonly PlaywrightSuite[] } | null;
  /** File names are shown relative to it. */
  readonly root: string;
  readonly count?: number;
}): string[];
