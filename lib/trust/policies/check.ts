import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { VotingSetting } from "@/lib/trust/decisions/service";
import type { RequiredApproval } from "./facts";

/** The movement that an evaluation is about, once it has an id. */
export interface Subject {
  readonly type: "operation" | "payout";
  readonly id: string;
  /**
   * SHA-256 of the parameters. The signer computes it again from the data that it is about to sign.
   */
  readonly digest: Uint8Array;
}

export interface Admission {
  readonly hasCode: boolean;
  /** The request on which people have voted about the movement. */
  readonly decisionId?: string | undefined;
  /**
   * True when wallets have already sent the movement themselves. Such a movement is recorded in
   * any case, because refusing it would only lose track of the money.
   */
  readonly isSent?: boolean;
}

export interface Passed {
  readonly evaluationId: string;
  /**
   * Stores the evaluation, in the transaction that stores the movement. Must run after all
   * statements of this transaction that may wait for locks, so that it finds a first policy that
   * was committed during the wait.
   * @throws PoliciesChangedError when the project had no policies and got its first one
   */
  store(sql: Sql): Promise<void>;
}

export interface Check {
  /**
   * Evaluates the newest policies, and counts the amounts in the daily caps. The caller stores the
   * evaluation. Runs no statement when the project has no policy.
   * @param sql must be inside the transaction that accepts the movement
   * @returns null, with nothing counted, when a code is needed that `admission` does not have
   * @throws PolicyViolationError; DomainError `provider_error` for a movement with votes while no
   * price can be read
   */
  evaluate(sql: Sql, subject: Subject, admission: Admission): Promise<Passed | null>;
  /** Like `evaluate`, but also stores the evaluation. @returns its id */
  enforce(sql: Sql, subject: Subject, admission: Admission): Promise<string | null>;
}

export interface ApprovalPort {
  /** The project's setting; null when it demands no votes. */
  requirementOf(
    projectId: string,
    sql: Pick<SqlReader, "query">,
  ): Promise<VotingSetting | null>;
  /**
   * The number of people and the roles that an approved request for votes demanded; null when no
   * request about this movement was approved.
   */
  approvedBy(
    sql: SqlReader,
    request: {
      readonly projectId: string;
      readonly decisionId: string;
      readonly subject: { readonly type: "operation" | "payout"; readonly id: string };
    },
  ): Promise<RequiredApproval | null>;
}
