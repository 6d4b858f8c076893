import type { PolicyRules, PolicyScope } from "@/lib/contracts/policy-rules";
import type { Requirement } from "@/lib/modules/decisions/service";

/** A version of a policy. */
export interface Policy {
  readonly id: string;
  readonly projectId: string;
  readonly scope: PolicyScope;
  /** The project, wallet or API key that it bounds. */
  readonly subjectId: string;
  readonly version: number;
  readonly rules: PolicyRules;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** The part of a policy that decides. */
export type EffectivePolicy = Pick<Policy, "id" | "scope" | "subjectId" | "version" | "rules">;

/** Money that leaves one wallet. */
export interface Movement {
  /** Null: an account of the ledger or a private wallet, which no policy of a wallet bounds. */
  readonly walletId: string | null;
  /** Null: an account of the ledger. */
  readonly chainId: number | null;
  /** Lower-case address or `native`; null: an account of the ledger. */
  readonly token: string | null;
  readonly asset: string;
  /** In units of the asset, a decimal string. */
  readonly amount: string;
  /**
   * `wallet`: in those of its wallet alone, because it brings money to a payout of the project that counts in the others; `none`: in no
   * policy's, because that payout leaves the same wallet.
   */
  readonly countsIn: "all" | "wallet" | "none";
  /** Worth in US dollars, a decimal string rounded up; null: no price is known. */
  readonly usd: string | null;
}

export interface Recipient {
  readonly address: string;
  /** A wallet whose key the service holds: the money stays in the project. */
  readonly isOwn: boolean;
  readonly contact: "approved" | "proposed" | null;
  /** When its contact was approved or it was first paid, whichever was earlier; null: neither has happened. */
  readonly knownSince: Date | null;
}

/** `usd`, `usd_without_code` or `asset:<assetId>`. */
export type UsageUnit = string;

/** The amount that a policy's subject moved on the same day before this movement. */
export interface Usage {
  readonly scope: PolicyScope;
  readonly subjectId: string;
  readonly unit: UsageUnit;
  /** Decimal string. */
  readonly spent: string;
}

/** The names of the fields of a request, for errors. */
export interface FactFields {
  readonly amount: string;
  readonly recipient: string;
  readonly chain: string;
  readonly token: string;
}

/** Everything that policies decide on. */
export interface Facts {
  readonly at: Date;
  readonly projectId: string;
  /** API keys that asked for the movement. */
  readonly keyIds: readonly string[];
  readonly movements: readonly Movement[];
  /** Every chain that the movement touches. */
  readonly chains: readonly number[];
  readonly recipients: readonly Recipient[];
  readonly usage: readonly Usage[];
  readonly fields: FactFields;
}

export type Decision = "allow" | "needs_approval" | "deny";

/** Who has to approve. */
export type RequiredApproval = Requirement;
