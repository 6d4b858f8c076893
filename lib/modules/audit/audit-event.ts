import { z } from "zod";

const auditData = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string()).readonly()]),
);

/** Facts about an action. Never a secret: people read it. */
export type AuditData = Readonly<z.output<typeof auditData>>;

/** One action in a project. */
export interface AuditEvent {
  readonly id: string;
  readonly projectId: string | null;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  readonly data: AuditData;
  readonly requestId: string | null;
  readonly clientAddress: string | null;
  readonly createdAt: Date;
}

/** A row of the table `audit_event`. */
export interface AuditColumns extends Omit<AuditEvent, "data"> {
  readonly data: unknown;
}

/** @throws ZodError when the column `data` does not have the shape that this version writes */
export const parseAuditEvent = (row: AuditColumns): AuditEvent => ({ ...row, data: auditData.parse(row.data) });
