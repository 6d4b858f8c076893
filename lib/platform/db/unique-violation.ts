const UNIQUE_VIOLATION = "23505";

/**
 * The name of the unique constraint or index that a statement without Prisma violated; null for
 * every other error.
 */
export const violatedUnique = (error: unknown): string | null =>
  error instanceof Error &&
  "code" in error &&
  error.code === UNIQUE_VIOLATION &&
  "constraint" in error
    ? String(error.constraint)
    : null;
