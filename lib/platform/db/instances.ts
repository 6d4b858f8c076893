import type pg from "pg";
import { z } from "zod";
import type { Clock } from "@/lib/core/clock";
import { keptSqlOn, type SqlReader, sqlOn } from "./sql";
import { sql } from "./statement";
import { json, nullable, type RowOf, table, float } from "./table";

/** The database's time, with readings of this process's monotonic clock before and after. */
interface TimeSample {
  readonly databaseMs: number;
  readonly askedMs: number;
  readonly answeredMs: number;
}

interface DatabaseClock extends Clock {
  measured(sample: TimeSample): void;
  /**
   * How far this machine's clock is ahead of the database's, in milliseconds; null before the first
   * sample.
   */
  aheadMs(): number | null;
}

interface TimeSources {
  /** Milliseconds since an arbitrary time. The clock never goes back. */
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
}

const SYSTEM: TimeSources = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/**
 * The time by the database's clock, so that instances whose own clocks are wrong agree on what has
 * expired. Between samples it advances with the process's monotonic clock. Before the first sample
 * it is the machine's time.
 */
export const createDatabaseClock = ({
  monotonicMs,
  wallMs,
}: TimeSources = SYSTEM): DatabaseClock => {
  /** Database time minus monotonic time. */
  let offsetMs: number | null = null;
  const databaseMs = (): number => (offsetMs === null ? wallMs() : monotonicMs() + offsetMs);
  return {
    now: () => new Date(Math.floor(databaseMs())),
    measured: (sample) => {
      const [low, high] = [
        sample.databaseMs - sample.answeredMs,
        sample.databaseMs - sample.askedMs,
      ];
      // The known offset lies within the uncertainty of this sample. Keeping it avoids small jumps
      // of time.
      if (offsetMs === null || offsetMs < low || offsetMs > high) offsetMs = (low + high) / 2;
    },
    aheadMs: () => (offsetMs === null ? null : wallMs() - databaseMs()),
  };
};

export interface Instances {
  /** Identifies this process; a restarted process has a new id. */
  readonly id: string;
  /**
   * Starts the heartbeat unless it is running. Resolves when the row of this process exists; later
   * calls cost nothing.
   * @throws the database's error when the row could not be written; the heartbeat keeps trying
   */
  start(): Promise<void>;
  /** Marks this process as a worker, and sends a beat immediately. */
  announceWorker(): void;
  /**
   * Whether a process has ended for good: it left, or this process saw it miss five consecutive
   * beats. Beats are counted as missed only while the database answers, so a database outage makes
   * no process count as dead.
   */
  isGone(id: string): Promise<boolean>;
  /**
   * Calls `listener` after each beat that the database stored; `afterOutage` is true when the
   * previous beat failed.
   */
  onBeat(listener: (beat: { afterOutage: boolean }) => void): void;
  /** Deletes the row, because this process has no more work. */
  close(): Promise<void>;
}

interface InstancesOptions {
  /**
   * A separate pool, so that a process whose other connections are all busy still counts as alive.
   */
  readonly pool: pg.Pool;
  readonly id: string;
  readonly onTime: (sample: TimeSample) => void;
  readonly beatMs?: number;
}

export const BEAT_MS = 2_000;
const MISSED_MAX = 5;

interface Peer {
  readonly beats: string;
  readonly missed: number;
}

const beatAnswers = table({
  nowMs: float,
  /** The other processes; null when there are none. */
  peers: nullable(json(z.array(z.object({ id: z.string(), beats: z.string() })))),
});

type BeatAnswer = RowOf<typeof beatAnswers>;

const storeBeat = (
  db: SqlReader,
  { id, works }: { readonly id: string; readonly works: boolean },
): Promise<BeatAnswer | null> =>
  // The beat is not flushed to disk, because the next beat replaces a lost one.
  beatAnswers.first(
    db,
    sql`
      WITH beat AS (
        INSERT INTO instance (id, works, beats, clock_ahead_ms, started_at, beat_at)
        SELECT
          ${id}::text,
          ${works}::boolean,
          1,
          ${Date.now()}::float8 - extract(epoch FROM clock_timestamp()) * 1000,
          now(),
          now()
        FROM set_config('synchronous_commit', 'off', true)
        ON CONFLICT (id) DO UPDATE SET
          works = EXCLUDED.works,
          beats = instance.beats + 1,
          clock_ahead_ms = EXCLUDED.clock_ahead_ms,
          beat_at = now()
        RETURNING id
      )
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs",
        (
          SELECT json_agg(json_build_object('id', i.id, 'beats', i.beats::text))
          FROM instance i WHERE i.id <> ${id}
        ) AS peers
      FROM beat`,
  );

/** The processes that share this database. Each reports that it is alive and watches the others. */
export const createInstances = ({
  pool,
  id,
  onTime,
  beatMs = BEAT_MS,
}: InstancesOptions): Instances => {
  const db = sqlOn(pool);
  const listeners = new Set<(beat: { afterOutage: boolean }) => void>();
  let peers = new Map<string, Peer>();
  let works = false;
  let timer: NodeJS.Timeout | null = null;
  let hasBeaten = false;
  let isOut = false;
  let beating: Promise<void> | null = null;

  const look = (seen: NonNullable<BeatAnswer["peers"]>): void => {
    peers = new Map(
      seen.map(({ id: peerId, beats }) => {
        const known = peers.get(peerId);
        return [peerId, { beats, missed: known?.beats === beats ? known.missed + 1 : 0 }];
      }),
    );
  };

  const beatOnce = async (): Promise<void> => {
    const askedMs = performance.now();
    try {
      const answer = await storeBeat(keptSqlOn(pool), { id, works });
      if (answer === null) throw new Error("The beat was not stored.");
      onTime({ databaseMs: answer.nowMs, askedMs, answeredMs: performance.now() });
      look(answer.peers ?? []);
      hasBeaten = true;
    } catch (error) {
      // While the database is unreachable no process can record its heartbeat.
      isOut = true;
      peers = new Map([...peers].map(([peerId, { beats }]) => [peerId, { beats, missed: 0 }]));
      throw error;
    }
    const afterOutage = isOut;
    isOut = false;
    for (const listener of listeners) listener({ afterOutage });
  };

  const beat = (): Promise<void> =>
    (beating ??= beatOnce().finally(() => {
      beating = null;
    }));

  const start = async (): Promise<void> => {
    timer ??= setInterval(() => void beat().catch(() => undefined), beatMs).unref();
    if (!hasBeaten) await beat();
  };

  return {
    id,
    start,
    announceWorker: () => {
      works = true;
      hasBeaten = false;
      start().catch(() => undefined);
    },
    isGone: async (peerId) => {
      if (peerId === id) return false;
      const peer = peers.get(peerId);
      if (peer !== undefined) return peer.missed >= MISSED_MAX;
      // The process started after the last beat, or has left.
      const found = await db.query(sql`SELECT 1 FROM instance WHERE id = ${peerId}`);
      return found.length === 0;
    },
    onBeat: (listener) => {
      listeners.add(listener);
    },
    close: async () => {
      if (timer === null) return;
      clearInterval(timer);
      await beating?.catch(() => undefined);
      // When this fails, the other instances notice the missing beats.
      await db.change(sql`DELETE FROM instance WHERE id = ${id}`).catch(() => undefined);
    },
  };
};
