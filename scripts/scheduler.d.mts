export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export interface Task {
  readonly name: string;
  /** Names of the tasks that have to be done first. */
  readonly after?: readonly string[];
  /** How many cores the task occupies. Default: 1. */
  readonly cores?: number;
}

interface Options {
  readonly cores?: number;
  readonly performOne?: (task: Task) => Promise<Counts>;
}

/** @throws Error when the remaining tasks wait for tasks that do not exist */
export function performAll(tasks: readonly Task[], options?: Options): Promise<Counts>;
