/** A streaming replica of the database, for reads that may be slightly old. */
import type pg from "pg";
import { withDeadline } from "@/lib/core/deadline";

/**
 * A position in the write-ahead log in PostgreSQL's notation, `16/B374D848`. Later positions are
 * larger.
 */
const PLACE = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;
const LOW_BITS = 32n;

/**
 * How old the replica's last replayed transaction may be. Every process of the service writes once
 * a second, so only a lagging replica is older.
 */
const LAG_MAX_SECONDS = 10;
/** How long the replica's last answer about its state is used. */
const ASK_EVERY_MS = 1_000;
/** How long a replica is not used after a failure. */
const PAUSE_MS = 5_000;
const ANSWER_MS = 1_000;

/** Reads a position in the write-ahead log. @returns null when the text is not a log position */
export const parsePlace = (text: string): bigint | null => {
  const [, high, low] = PLACE.exec(text) ?? [];
  return high === undefined || low === undefined
    ? null
    : (BigInt(`0x${high}`) << LOW_BITS) | BigInt(`0x${low}`);
};

export interface Replica {
  /**
   * Whether the replica has everything up to this position, and lags behind the primary by less
   * than ten seconds. Never throws.
   * @param place the result of `writtenUpTo`; null when the caller wrote nothing
   */
  has(place: string | null): Promise<boolean>;
}

interface Standing {
  readonly replayed: bigint;
  readonly isClose: boolean;
  readonly askedAtMs: number;
}

const NOWHERE: Standing = {
  replayed: -1n,
  isClose: false,
  askedAtMs: Number.NEGATIVE_INFINITY,
};

interface ReplicaOptions {
  readonly pool: Pick<pg.Pool, "query">;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs?: () => number;
}

// Reads the state of the replica. A server that left recovery is a separate primary, which no
// longer receives the real primary's changes, so it does not count as a replica.
const STANDING = `SELECT pg_is_in_recovery() AS "isReplica", coalesce(pg_last_wal_replay_lsn()::text, '0/0') AS place,
  coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 'Infinity')::float8 AS lag`;

/**
 * Queries the replica at most once a second, and once more for a caller who wrote after the last
 * query.
 */
export const createReplica = ({
  pool,
  monotonicMs = () => performance.now(),
}: ReplicaOptions): Replica => {
  let standing = NOWHERE;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<Standing> | null = null;
  const ask = async (): Promise<Standing> => {
    const { rows } = await withDeadline(
      pool.query<{ isReplica: boolean; place: string; lag: number }>(STANDING),
      {
        timeoutMs: ANSWER_MS,
        message: "The replica did not answer in time.",
      },
    );
    const [row] = rows;
    const replayed = row?.isReplica === true ? (parsePlace(row.place) ?? -1n) : -1n;
    standing = {
      replayed,
      isClose: replayed >= 0n && (row?.lag ?? Infinity) <= LAG_MAX_SECONDS,
      askedAtMs: monotonicMs(),
    };
    return standing;
  };
  const askTogether = (): Promise<Standing> =>
    (asking ??= ask().finally(() => (asking = null)));
  const isEnough = ({ replayed, isClose }: Standing, wanted: bigint): boolean =>
    isClose && replayed >= wanted;
  return {
    has: async (place) => {
      const wanted = place === null ? 0n : parsePlace(place);
      if (wanted === null || monotonicMs() < pausedUntilMs) return false;
      const isKnown = monotonicMs() - standing.askedAtMs < ASK_EVERY_MS;
      if (isKnown && isEnough(standing, wanted)) return true;
      if (isKnown && !standing.isClose) return false;
      try {
        return isEnough(await askTogether(), wanted);
      } catch {
        standing = NOWHERE;
        pausedUntilMs = monotonicMs() + PAUSE_MS;
        return false;
      }
    },
  };
};

/**
 * Reads for how many seconds the replica has replayed nothing new.
 * @throws when the server does not answer, or is no replica
 */
export const readReplicaLag = async (pool: Pick<pg.Pool, "query">): Promise<number> => {
  const { rows } = await withDeadline(
    pool.query<{ isReplica: boolean; lag: number }>(STANDING),
    {
      timeoutMs: ANSWER_MS,
      message: "The replica did not answer in time.",
    },
  );
  const [row] = rows;
  if (row?.isReplica !== true || !Number.isFinite(row.lag))
    throw new Error("The server of DATABASE_REPLICA_URL is no replica.");
  return Math.max(0, row.lag);
};

/**
 * A log position up to which the primary has written everything that was committed before this
 * call.
 */
export const writtenUpTo = async (pool: Pick<pg.Pool, "query">): Promise<string> => {
  const { rows } = await pool.query<{ place: string }>(
    "SELECT pg_current_wal_insert_lsn()::text AS place",
  );
  return rows[0]?.place ?? "0/0";
};
