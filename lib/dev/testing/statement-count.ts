import { relative } from "node:path";
import pg from "pg";
import { afterFile } from "./after-file";

export interface StatementUse {
  readonly text: string;
  /**
   * The function of the service that sent the statement, or the batch that contained the
   * statement.
   */
  readonly place: string;
  /**
   * `request` for statements of an API call, `drive` for statements of jobs, `batch` for
   * statements that serve several callers.
   */
  readonly phase: "request" | "drive" | "batch";
  readonly count: number;
}

export interface StatementCount {
  /** Number of statements since `reset` by text, including BEGIN and COMMIT. */
  readonly byText: ReadonlyMap<string, number>;
  /**
   * Statements since `reset` by text, place and phase, most frequent first. Empty without
   * `withPlaces`.
   */
  uses(): readonly StatementUse[];
  total(): number;
  reset(): void;
}

type Query = (this: pg.Client, ...parts: unknown[]) => unknown;
type Use = Omit<StatementUse, "count"> & { count: number };

const textOf = (statement: unknown): string => {
  const text =
    typeof statement === "string"
      ? statement
      : (statement as { text?: string } | undefined)?.text;
  return (text ?? "").replace(/\s+/g, " ").trim();
};

const FRAMES = 60;
/** Frames of code that only passes statements on. */
const PASSING = /^lib\/(?:platform\/db|dev\/testing|core)\//;

/** `lib/money/x/y.ts:12 name` for each frame of the project, innermost first. */
const framesNow = (): string[] => {
  const kept = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const stack = new Error("place").stack ?? "";
  Error.stackTraceLimit = kept;
  return stack
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, name = "", path, row] =
        /at (?:async )?(?:(.*?) \()?(?:file:\/\/)?(\/.*?):(\d+):\d+\)?$/.exec(line) ?? [];
      if (path === undefined || path.includes("node_modules")) return [];
      return [`${relative(process.cwd(), path)}:${String(row)} ${name}`.trim()];
    });
};

const placeOf = (frames: readonly string[]): Pick<StatementUse, "place" | "phase"> => {
  const place = frames.find((frame) => !PASSING.test(frame)) ?? frames.at(-1) ?? "";
  const isIn = (pattern: RegExp): boolean => frames.some((frame) => pattern.test(frame));
  if (isIn(/^(?:app\/api|lib\/http)\//)) return { place, phase: "request" };
  return { place, phase: isIn(/^lib\/core\/batch\.ts/) ? "batch" : "drive" };
};

/**
 * Makes the pool send statements from an async function, which keeps the caller's stack. By
 * default a pool sends statements from callbacks, which have no stack of the caller.
 */
const keepStacks = (pool: pg.Pool): void => {
  pool.query = (async (...parts: Parameters<pg.Client["query"]>): Promise<unknown> => {
    const client = await pool.connect();
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...parts);
    } finally {
      client.release();
    }
  }) as unknown as pg.Pool["query"];
};

const LINES_MAX = 40;
const TEXT_CHARS_MAX = 110;

/**
 * Lists the most frequent statements by phase and place, as text for people.
 * @param of the number by which the counts are divided
 */
export const reportOf = (uses: readonly StatementUse[], of: number): string =>
  uses
    .slice(0, LINES_MAX)
    .map(
      ({ count, phase, place, text }) =>
        `${(count / of).toFixed(2)} ${phase} ${place} ${text.slice(0, TEXT_CHARS_MAX)}`,
    )
    .join("\n");

/**
 * Counts every statement that this process sends on connections of the pool. Call it before the
 * pool connects, once in a test file.
 * @param options.withPlaces also records who sent each statement, which makes every statement
 * slower
 */
export const countStatements = (pool: pg.Pool, { withPlaces = false } = {}): StatementCount => {
  const byText = new Map<string, number>();
  const byUse = new Map<string, Use>();
  const counted = new WeakSet<object>();
  pool.on("connect", (client) => counted.add(client));
  if (withPlaces) keepStacks(pool);
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  const note = (text: string): void => {
    byText.set(text, (byText.get(text) ?? 0) + 1);
    if (!withPlaces) return;
    const { place, phase } = placeOf(framesNow());
    const name = `${phase} ${place} ${text}`;
    const use = byUse.get(name);
    if (use === undefined) byUse.set(name, { text, place, phase, count: 1 });
    else use.count += 1;
  };
  prototype.query = function (this: pg.Client, ...parts: unknown[]): unknown {
    if (counted.has(this)) note(textOf(parts[0]));
    return original.apply(this, parts);
  };
  afterFile(() => {
    prototype.query = original;
  });
  return {
    byText,
    uses: () => [...byUse.values()].sort((a, b) => b.count - a.count),
    total: () => [...byText.values()].reduce((sum, count) => sum + count, 0),
    reset: () => {
      byText.clear();
      byUse.clear();
    },
  };
};
