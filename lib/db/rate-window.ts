import type { Database } from "./client";

interface Increment {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly by: number;
}

interface Total {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly count: number;
}

export interface RateWindowStore {
  add(increments: readonly Increment[]): Promise<readonly Total[]>;
}

const ADD = `
  INSERT INTO rate_window (bucket, window_start, count)
  SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::int[])
  ON CONFLICT (bucket, window_start) DO UPDATE SET count = rate_window.count + EXCLUDED.count
  RETURNING bucket, window_start AS "windowStart", count`;

/** Request counts of all instances, in the table `rate_window`. */
export const createRateWindowStore = ({ pool }: Pick<Database, "pool">): RateWindowStore => ({
  add: async (increments) => {
    // Every instance locks rows in the same order, so two batches cannot wait for each other.
    const sorted = [...increments].sort((a, b) => (a.bucket < b.bucket ? -1 : a.bucket > b.bucket ? 1 : 0));
    const { rows } = await pool.query<Total>({
      name: "rate_window_add",
      text: ADD,
      values: [
        sorted.map(({ bucket }) => bucket),
        sorted.map(({ windowStart }) => windowStart),
        sorted.map(({ by }) => by),
      ],
    });
    return rows;
  },
});
