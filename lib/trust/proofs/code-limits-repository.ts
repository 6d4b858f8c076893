import type { Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, nullable, type RowOf, table, time } from "@/lib/platform/db/table";

const counts = table({
  count: int,
  /** Time of the oldest counted event; null when there is none. */
  first: nullable(time),
});

export type Counted = RowOf<typeof counts>;

const GUESSES = "wrong:";

/** Name of the bucket that counts the wrong guesses of a person or API key. */
export const guessBucket = (guesser: string): string => `${GUESSES}${guesser}`;

const guesses = table({ count: int, most: int });

/**
 * Counts the wrong guesses after `since`. `most` is the number of the person or API key with the
 * most.
 */
export const countWrongGuesses = async (
  db: SqlReader,
  since: Date,
): Promise<RowOf<typeof guesses>> => {
  const counted = await guesses.first(
    db,
    sql`
      SELECT coalesce(sum(count), 0)::int AS count, coalesce(max(count), 0)::int AS most
      FROM (
        SELECT count(*) AS count FROM code_limit
        WHERE at > ${since}::timestamptz AND bucket LIKE ${`${GUESSES}%`}::text
        GROUP BY bucket
      ) AS guessers`,
  );
  return counted ?? { count: 0, most: 0 };
};

/**
 * Counts the events of a bucket after `since`. Other transactions that count the same bucket wait
 * until the caller's transaction ends, so that a limit holds over all instances. Lock several
 * buckets in the order of their names.
 */
export const countUnderLock = async (tx: Tx, bucket: string, since: Date): Promise<Counted> => {
  const db = sqlOf(tx);
  const name = `code-limit:${bucket}`;
  await db.change(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  const counted = await counts.first(
    db,
    sql`
      SELECT count(*)::int AS count, min(at) AS first FROM code_limit
      WHERE bucket = ${bucket} AND at > ${since}::timestamptz`,
  );
  return counted ?? { count: 0, first: null };
};

export const addTo = async (
  tx: Tx,
  buckets: readonly string[],
  entry: { id: string; at: Date },
): Promise<void> => {
  await tx.codeLimit.createMany({ data: buckets.map((bucket) => ({ bucket, ...entry })) });
};

export const removeFrom = async (
  tx: Tx,
  buckets: readonly string[],
  { id, at }: { id: string; at: Date },
) => {
  await tx.codeLimit.deleteMany({ where: { bucket: { in: [...buckets] }, at, id } });
};

export const idsIn = async (
  tx: Tx,
  bucket: string,
  since: Date,
): Promise<ReadonlySet<string>> => {
  const rows = await tx.codeLimit.findMany({
    where: { bucket, at: { gt: since } },
    select: { id: true },
  });
  return new Set(rows.map(({ id }) => id));
};
