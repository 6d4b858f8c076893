import { EarlierVersionError } from "@/lib/platform/db/migrate";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** A part cannot start. The message names the part, the reason and the remedy. */
export class PartError extends Error {
  constructor(
    readonly part: string,
    reason: unknown,
    advice: string,
  ) {
    super(`${part} cannot start.\n\nWhy: ${messageOf(reason)}\n\nWhat to do: ${advice}`, {
      cause: reason,
    });
    this.name = "PartError";
  }
}

/** Runs the start of a part and times it. @throws PartError, EarlierVersionError */
export const startPart = async <T>(
  part: string,
  advice: string,
  start: () => Promise<T>,
): Promise<{ value: T; tookMs: number }> => {
  const begin = performance.now();
  try {
    return { value: await start(), tookMs: performance.now() - begin };
  } catch (error) {
    // The message of an EarlierVersionError already says what to do.
    if (error instanceof PartError || error instanceof EarlierVersionError) throw error;
    throw new PartError(part, error, advice);
  }
};
