import { createHash } from "node:crypto";
import type { Actor, Role } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import type { MailOutbox } from "@/lib/news/mail/service";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import type { JobResult } from "@/lib/platform/jobs/service";
import {
  appendChunk,
  emailOf,
  findExport,
  markFailed,
  markReady,
  readChunk,
} from "./repository";
import { mayReadExport } from "./rights";
import type { ExportRow } from "./rows";
import type { ExportSources } from "./source";

export interface ExportRunnerDeps {
  readonly database: Database;
  readonly sources: ExportSources;
  /** The person's role in the project now. @throws DomainError when there is none */
  readonly roleOf: (userId: string, projectId: string) => Promise<Role>;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/**
 * Maximum number of parts that one turn of the job writes. After that, other jobs get their turn.
 */
const TURN_PARTS_MAX = 50;
/**
 * Codes of errors after which the job is tried again, because their causes usually end without a
 * change.
 */
const TEMPORARY = new Set<string>([
  "service_unavailable",
  "chain_unavailable",
  "provider_error",
]);

const encoder = new TextEncoder();

type Step = "more" | "whole" | "stop";

const mailText = (row: ExportRow, publicUrl: string) => ({
  subject: "Your export is ready",
  text: [
    `The file that you asked for on ${row.createdAt.toISOString()} is ready, with ${String(row.rows)} records.`,
    `Download it until ${row.expiresAt.toISOString()}: ${publicUrl}/activity/exports`,
  ].join("\n\n"),
});

/**
 * Runs the job of an export. Each part is stored together with the cursor of the next one. So
 * another worker can continue after a crash, and each part is in the file exactly once.
 */
export const createExportRunner = (deps: ExportRunnerDeps) => {
  const { database, sources, clock } = deps;
  const reader = sqlOn(database.pool);

  const actorOf = async (row: ExportRow): Promise<Actor> => {
    const { projectId, createdBy, scopes } = row;
    if (scopes === null) {
      const role = await deps.roleOf(createdBy, projectId);
      return { type: "user", userId: createdBy, sessionId: "export", projectId, role };
    }
    const policy = { otp: "required", dailyCapUsd: null, recipients: [] } as const;
    return { type: "apiKey", keyId: createdBy, projectId, createdBy, scopes, policy };
  };

  const writePart = async (row: ExportRow): Promise<Step> => {
    const actor = await actorOf(row);
    if (!mayReadExport(actor, row)) {
      await markFailed(reader, row, "Who asked for it may not read this any more.");
      return "stop";
    }
    const { filters, format } = row;
    const page = await sources[row.kind].page({ actor, filters, format }, row.cursor);
    const isLast = page.next === null;
    const isStored = await database.transaction((tx) =>
      appendChunk(sqlOf(tx), row, {
        content: encoder.encode(page.text),
        rows: page.rows,
        cursor: page.next,
        isLast,
        at: clock.now(),
      }),
    );
    if (!isStored) return "stop";
    return isLast ? "whole" : "more";
  };

  const finish = async (row: ExportRow): Promise<void> => {
    const hash = createHash("sha256");
    for (let index = 0; index < row.chunks; index += 1) {
      const content = await readChunk(reader, row, index);
      if (content === null) throw new Error("A part of the export is missing.");
      hash.update(content);
    }
    const sha256 = hash.digest();
    await database.transaction(async (tx) => {
      if (!(await markReady(sqlOf(tx), row, { sha256, at: clock.now() }))) return;
      const to = row.scopes === null ? await emailOf(sqlOf(tx), row.createdBy) : null;
      if (to === null) return;
      await deps.outbox.enqueue(tx, row.projectId, { to, ...mailText(row, deps.publicUrl) });
    });
  };

  const isOpen = ({ state }: ExportRow): boolean => state === "queued" || state === "running";

  const write = async (row: ExportRow): Promise<Step> => {
    try {
      return await writePart(row);
    } catch (error) {
      if (!isDomainError(error) || TEMPORARY.has(error.code)) throw error;
      await markFailed(reader, row, error.message);
      return "stop";
    }
  };

  const run = async (jobId: string, signal: AbortSignal): Promise<JobResult> => {
    const [projectId = "", id = ""] = jobId.split("/");
    for (let part = 0; part < TURN_PARTS_MAX; part += 1) {
      const row = await findExport(reader, { projectId, id });
      if (row === null || !isOpen(row)) return { done: true };
      if (row.expiresAt <= clock.now()) {
        await markFailed(reader, row, "It could not be written within 7 days.");
        return { done: true };
      }
      if (row.isWhole) {
        await finish(row);
        return { done: true };
      }
      if (signal.aborted) break;
      if ((await write(row)) === "stop") break;
    }
    return { done: false, againInMs: 0 };
  };

  return { run };
};
