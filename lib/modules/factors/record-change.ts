import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { Database, Tx } from "@/lib/db/client";
import type { ApprovalsService } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit, type AuditData } from "@/lib/modules/audit/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import { factorNotice } from "./texts";

export interface FactorChangesDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly people: {
    /** Reads within the transaction, so that no second connection is needed. */
    verifiedEmail(userId: string, tx?: Tx): Promise<string | null>;
    signInWallet(userId: string): Promise<{ readonly address: string } | null>;
  };
  readonly projects: Pick<ProjectsService, "tellPerson">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

interface FactorChange {
  readonly action: string;
  readonly subject: string;
  /** For the mail to the person. */
  readonly what: string;
  readonly at: Date;
  readonly data?: AuditData;
}

/** Records a change of a person's factors, and mails it to their verified address. */
export const recordFactorChange = async (
  tx: Tx,
  deps: FactorChangesDeps,
  actor: UserActor,
  { what, ...entry }: FactorChange,
): Promise<void> => {
  await recordAudit(tx, { ...doneBy(actor), ...entry });
  const to = await deps.people.verifiedEmail(actor.userId, tx);
  if (to === null) return;
  await deps.projects.tellPerson(tx, { userId: actor.userId, to, ...factorNotice(what, deps.publicUrl) });
};
