import type { UserActor } from "@/lib/core/actor";
import type { DecisionRequest } from "./decision";

/**
 * How a request for votes checks and carries out its object. The module of the object, such as
 * operations or payouts, implements it.
 */
export interface DecisionSubject {
  /**
   * Checks, before an approving vote, that the object could run now.
   * @throws DomainError
   */
  readonly check?: (subject: {
    readonly projectId: string;
    readonly id: string;
  }) => Promise<void>;
  /**
   * Runs the object or ends it. It may be called again after a crash, so its effect must be a
   * compare-and-set on the object's state. After an error the job tries again.
   */
  readonly onDecided: (decided: Decided) => Promise<void>;
}

export interface Decided {
  readonly projectId: string;
  readonly id: string;
  readonly outcome: "approved" | "declined" | "expired";
  readonly request: DecisionRequest;
  /** The person whose vote decided; null for a request that has expired. */
  readonly decidedBy: UserActor | null;
}
