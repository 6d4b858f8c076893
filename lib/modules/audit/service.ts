import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/db/client";
import { insertAuditEvent } from "./repository";

export interface AuditEntry {
  readonly projectId: string | null;
  /** User, API key or service part that did it. */
  readonly actor: string;
  /** `noun.verb` in the past: `api_key.created`. */
  readonly action: string;
  readonly subject: string | null;
  /** Never a secret: people read it. */
  readonly data?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  readonly at: Date;
}

/** Writes who did what, in the transaction of what was done: one without the other cannot be. */
export const recordAudit = (tx: Tx, { at, data = {}, ...entry }: AuditEntry): Promise<void> =>
  insertAuditEvent(tx, { id: newId("auditEvent"), ...entry, data, createdAt: at });
