const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A part cannot start. The message names the part, the reason and the remedy. */
export class PartError extends Error {
  constructor(
    readonly part: string,
    reason: unknown,
    advice: string,
  ) {
    super(`${part} cannot start.\n\nWhy: ${messageOf(reason)}\n\nWhat to do: ${advice}`, { cause: reason });
    this.name = "PartError";
  }
}

/** Runs the start of a part and times it. @throws PartError */
export const startPart = async <T>(
  part: string,
  advice: string,
  start: () => Promise<T>,
): Promise<{ value: T; tookMs: number }> => {
  const begin = performance.now();
  try {
    return { value: await start(), tookMs: performance.now() - begin };
  } catch (error) {
    throw error instanceof PartError ? error : new PartError(part, error, advice);
  }
};
