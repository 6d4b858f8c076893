import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { Database, Tx } from "@/lib/db/client";
import type { ApprovalsService } from "@/lib/modules/approvals/service";
import type { MailOutbox } from "@/lib/modules/mail/service";
import type { ProjectsService } from "@/lib/modules/projects/service";

export interface MembersDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners" | "forget">;
  readonly apiKeys: {
    /** Revokes the keys of the project that the person made or has a secret of, in the caller's transaction. */
    revokeKeysOf(tx: Tx, actor: UserActor, userId: string): Promise<void>;
  };
  readonly people: {
    /** null until the person has verified one. */
    verifiedEmail(userId: string): Promise<string | null>;
  };
  readonly outbox: Pick<MailOutbox, "enqueue">;
  /** Origin of the dashboard, for the links in mails. */
  readonly publicUrl: string;
  readonly clock: Clock;
}

export const MEMBERS_MAX = 1000;
