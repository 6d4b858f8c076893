import { createHash } from "node:crypto";
import type { UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { type ApiRequestQuery, insertApiRequests, listApiRequests } from "./repository";
import type { ApiRequest } from "./rows";

export type { ApiRequest } from "./rows";

/**
 * Maximum number of requests in memory for the next write. Further ones are not logged, so that a
 * flood of requests cannot fill the memory.
 */
const WAITING_MAX = 20_000;
const BATCH_MAX = 2_000;
const WRITE_EVERY_MS = 500;

export interface ApiRequestsDeps {
  readonly database: Pick<Database, "pool">;
  readonly apiKeys: { has(projectId: string, id: string): Promise<boolean> };
  readonly onLost: (lost: { readonly requests: number; readonly error?: unknown }) => void;
}

export interface AnsweredRequest extends Omit<ApiRequest, "bodySha256"> {
  /** As received; null when no body was read. */
  readonly body: Uint8Array | null;
}

export type Outcome = "succeeded" | "refused" | "failed";

const STATUSES: Readonly<Record<Outcome, readonly [number, number]>> = {
  succeeded: [100, 399],
  refused: [400, 499],
  failed: [500, 599],
};

export interface ApiRequestFilter extends Pick<
  ApiRequestQuery,
  "method" | "path" | "from" | "to" | "limit"
> {
  readonly outcome?: Outcome | undefined;
  readonly cursor?: string | undefined;
}

interface WaitingRequest extends Omit<ApiRequest, "bodySha256"> {
  readonly bodySha256: () => ApiRequest["bodySha256"];
}

const nothing = (): null => null;

/**
 * Returns a function that returns the SHA-256 of a body. The hash is computed only once: by
 * `setImmediate`, so that it does not delay the response, or earlier when the function is called.
 */
const hashedSoon = (body: Uint8Array): (() => Uint8Array) => {
  let of: Uint8Array | null = body;
  let digest = new Uint8Array();
  const hashed = (): Uint8Array => {
    if (of !== null) digest = createHash("sha256").update(of).digest();
    of = null;
    return digest;
  };
  setImmediate(hashed);
  return hashed;
};

/**
 * The log of requests with API keys. `record` keeps a request in memory; batches are written twice
 * a second, in transactions of their own. A process that crashes loses the requests of the last
 * half second and of a running write. While the database is unavailable at most 20,000 requests are
 * kept.
 */
export const createApiRequests = ({ database, apiKeys, onLost }: ApiRequestsDeps) => {
  const db = sqlOn(database.pool);
  let waiting: WaitingRequest[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing: Promise<void> = Promise.resolve();
  let dropped = 0;
  let isClosed = false;

  const write = async (): Promise<void> => {
    if (dropped > 0) onLost({ requests: dropped });
    dropped = 0;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      try {
        await insertApiRequests(
          db,
          batch.map((request) => ({ ...request, bodySha256: request.bodySha256() })),
        );
      } catch (error) {
        onLost({ requests: 0, error });
        schedule();
        return;
      }
      waiting = waiting.slice(batch.length);
    }
  };

  const flush = (): Promise<void> => {
    writing = writing.then(write);
    return writing;
  };

  const schedule = (): void => {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, WRITE_EVERY_MS);
    timer.unref();
  };

  return {
    /** Logs an answered request without waiting for the write. */
    record: ({ body, ...request }: AnsweredRequest): void => {
      if (waiting.length >= WAITING_MAX) {
        dropped += 1;
        return;
      }
      waiting.push({ ...request, bodySha256: body === null ? nothing : hashedSoon(body) });
      schedule();
    },
    /**
     * The logged requests of an API key, newest first.
     * @throws DomainError `forbidden` unless owner or admin, `not_found` for a key of another
     * project
     */
    list: async (
      actor: UserActor,
      keyId: string,
      { cursor, limit, outcome, ...filter }: ApiRequestFilter,
    ): Promise<{
      readonly data: readonly ApiRequest[];
      readonly nextCursor: string | null;
    }> => {
      requirePermission(actor, "keys:manage");
      const { projectId } = actor;
      if (!isId("apiKey", keyId) || !(await apiKeys.has(projectId, keyId))) throw notFound();
      const statuses = outcome === undefined ? undefined : STATUSES[outcome];
      const rows = await listApiRequests(db, {
        ...filter,
        projectId,
        keyId,
        statuses,
        before: cursor,
        limit: limit + 1,
      });
      const data = rows.slice(0, limit);
      return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
    },
    /** Writes the remaining requests, at the end of the process. */
    close: (): Promise<void> => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      return flush();
    },
  };
};
