import type { Sql } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";

/** The subject of an evaluation, once it has an id. */
export interface Subject {
  readonly type: "operation" | "payout";
  readonly id: string;
  /** SHA-256 of what may move, which the signer computes again from what it is asked to sign. */
  readonly digest: Uint8Array;
}

/** How the caller has proved itself. */
export interface Admission {
  /** A one-time code has approved it. */
  readonly hasCode: boolean;
  /** The request on which people have voted about it. */
  readonly decisionId?: string | undefined;
  /** Wallets have sent it by themselves already: it is recorded, because a refusal would only lose track of the money. */
  readonly isSent?: boolean;
}

/** An evaluation that let a movement pass, and that is stored in one statement with the movement. */
export interface Passed {
  readonly evaluationId: string;
  readonly parts: readonly StatementPart[];
  /** Holds while the policies are those that were evaluated; null where the transaction has read them. */
  readonly condition: StatementPart | null;
}

/** Decides on one movement in the transaction that accepts it. */
export interface Check {
  /** The project has no policy, so `evaluate` takes no lock and may be called before the transaction's other statements. */
  readonly isFree: boolean;
  /**
   * Evaluates the newest policies and counts the amounts in the daily caps. The caller stores the parts in its transaction, and throws
   * `PoliciesChangedError` where the condition does not hold. Without any policy of the project it runs no statement.
   * @param sql must be inside the transaction that accepts the movement
   * @returns null when a code is needed that `admission` does not have, and then nothing is counted
   * @throws PolicyViolationError; DomainError `provider_error` for a movement with votes while no price can be read
   */
  evaluate(sql: Sql, subject: Subject, admission: Admission): Promise<Passed | null>;
  /** As `evaluate`, and stores the evaluation. @returns its id */
  enforce(sql: Sql, subject: Subject, admission: Admission): Promise<string | null>;
}
