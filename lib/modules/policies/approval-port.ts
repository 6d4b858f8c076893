import type { Role } from "@/lib/core/actor";
import type { Tx } from "@/lib/db/client";
import type { RequiredApproval } from "./facts";

/** What other people are asked to approve. */
export interface ApprovalRequest {
  readonly projectId: string;
  readonly subject: { readonly type: "operation" | "payout"; readonly id: string };
  /** SHA-256 of what is approved; an approval of other data does not count. */
  readonly digest: Uint8Array;
  readonly title: string;
  readonly lines: readonly string[];
  /** The person or API key that asked for the movement. */
  readonly maker: string;
  readonly required: RequiredApproval & { readonly roles: readonly Role[] };
  readonly expiresAt: Date;
}

/** Collects the decisions of other people. */
export interface ApprovalPort {
  /** Asks for the decisions, in the transaction that lets the subject wait. */
  open(tx: Tx, request: ApprovalRequest): Promise<void>;
  /** Whether enough people have approved exactly this. */
  isApproved(projectId: string, subject: ApprovalRequest["subject"], digest: Uint8Array): Promise<boolean>;
}
