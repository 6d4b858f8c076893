import type { ResponseOf } from "@/lib/contracts/contract";
import type { prepareSwap } from "@/lib/contracts/swap";

/** A step that the person's own wallet takes before execute, as prepare returns it. */
export type Action = ResponseOf<typeof prepareSwap>["actions"][number];

/** The answer to an action, as execute takes it. */
export interface Signed {
  readonly actionId: string;
  /** 0x hex; for `user_operation` and `typed_data`. */
  readonly signature?: string;
  /** 0x hex; for `transaction`. */
  readonly txHash?: string;
}

export type StepState =
  | { readonly state: "todo" }
  /** No connected wallet has the account that signs. */
  | { readonly state: "needs_account" }
  /** The wallet shows it to the person now. */
  | { readonly state: "asking" }
  /** Sent; the next step of the same wallet waits until the chain has it. */
  | { readonly state: "mining"; readonly txHash: string }
  | { readonly state: "done"; readonly signed: Signed }
  | { readonly state: "rejected" }
  /** With a hash: it was sent, and whether the chain takes it is not known yet. Without: nothing of this step stands. */
  | { readonly state: "failed"; readonly reason: string; readonly txHash?: string };

export interface SigningStep {
  readonly action: Action;
  readonly at: StepState;
  /** Done for an earlier preparation, and no action of this one: an approval that the token remembers. */
  readonly kept: boolean;
}
