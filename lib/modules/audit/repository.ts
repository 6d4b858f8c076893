import type { Queryable } from "@/lib/db/client";

interface AuditRow {
  readonly id: string;
  readonly projectId: string | null;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  readonly data: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  readonly createdAt: Date;
}

export const insertAuditEvent = async (db: Queryable, row: AuditRow): Promise<void> => {
  await db.auditEvent.create({ data: row });
};
