/** Rows of one statement. The planner takes a list for 100 rows and may compare each row with each: more lists cost less than a longer one. */
const CHUNK = 500;

export const inChunks = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) => rows.slice(index * CHUNK, (index + 1) * CHUNK));
