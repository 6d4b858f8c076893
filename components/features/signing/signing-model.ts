import type { ResponseOf } from "@/lib/contracts/contract";
import type { prepareSwap } from "@/lib/contracts/swap";

/** `approve(address,uint256)` of ERC-20. */
const APPROVE_SELECTOR = "0x095ea7b3";

/** Whether the action is an ERC-20 approval, which moves nothing itself. */
export const isApproval = (action: Action): boolean =>
  action.kind === "transaction" &&
  action.transaction?.data.slice(0, APPROVE_SELECTOR.length).toLowerCase() ===
    APPROVE_SELECTOR &&
  /^0+$/.test(action.transaction.value);

export const isSignature = (action: Action): boolean => action.kind !== "transaction";

/** Whether the step has sent a transaction to a chain, mined or not. */
const wasSent = ({ action, at }: SigningStep): boolean =>
  action.kind === "transaction" &&
  (at.state === "mining" ||
    at.state === "done" ||
    (at.state === "failed" && at.txHash !== undefined));

/**
 * Whether money has left a wallet. The remaining steps must then be finished and not started
 * again.
 */
export const movedMoney = (steps: readonly SigningStep[]): boolean =>
  steps.some((step) => wasSent(step) && !isApproval(step.action));

/**
 * The rank of an action in the order of signing. Signatures rank first, because a person who
 * rejects one has lost nothing. Transactions that are followed by another transaction of the same
 * wallet, such as approvals, rank before the last transactions, which move money. Transactions of
 * one wallet on one chain keep their order.
 */
const rank = (action: Action, all: readonly Action[]): number => {
  if (isSignature(action)) return 0;
  const laterOfSameWallet = all.some(
    (other) =>
      other !== action && sameSender(other, action) && all.indexOf(other) > all.indexOf(action),
  );
  return laterOfSameWallet ? 1 : 2;
};

const sameSender = (a: Action, b: Action): boolean =>
  !isSignature(a) &&
  !isSignature(b) &&
  a.signerAddress === b.signerAddress &&
  a.chainId === b.chainId;

export const inOrder = (actions: readonly Action[]): readonly Action[] =>
  actions
    .map((action, index) => ({ action, index, rank: rank(action, actions) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ action }) => action);

/**
 * The part of an action that a wallet signs. Actions with equal content are equal on the chain,
 * whatever their ids and gas limits.
 */
const contentOf = ({ kind, signerAddress, chainId, typedData, transaction }: Action): string =>
  JSON.stringify([
    kind,
    signerAddress,
    chainId,
    typedData ?? null,
    transaction === undefined ? null : [transaction.to, transaction.data, transaction.value],
  ]);

/**
 * The steps of a new preparation. Signatures are requested again, because they sign exactly the
 * prepared data. A sent approval that is no longer required stays in the list as done, because the
 * token stores it.
 */
export const stepsOf = (
  actions: readonly Action[],
  before: readonly SigningStep[],
): readonly SigningStep[] => {
  const required = new Set(actions.map(contentOf));
  const kept = before
    .filter(
      ({ action, at }) =>
        at.state === "done" && isApproval(action) && !required.has(contentOf(action)),
    )
    .map((step): SigningStep => ({ ...step, kept: true }));
  return [
    ...kept,
    ...inOrder(actions).map((action): SigningStep => ({
      action,
      at: { state: "todo" },
      kept: false,
    })),
  ];
};

/**
 * Whether the transaction at `index` must be mined before the next step. True when a later step
 * sends a transaction of the same wallet on the same chain, because the wallet cannot estimate that
 * transaction earlier.
 */
export const mustBeMined = (steps: readonly SigningStep[], index: number): boolean => {
  const step = steps[index];
  return (
    step !== undefined &&
    steps.slice(index + 1).some((later) => sameSender(later.action, step.action))
  );
};

/**
 * The signatures to send with the execute request; null until every step that needs one is done.
 */
export const signaturesOf = (steps: readonly SigningStep[]): readonly Signed[] | null => {
  const required = steps.filter((step) => !step.kept);
  const signed = required.flatMap(({ at }) => (at.state === "done" ? [at.signed] : []));
  return signed.length === required.length ? signed : null;
};

const STOPPED: ReadonlySet<StepState["state"]> = new Set([
  "rejected",
  "failed",
  "needs_account",
]);

export interface Standing {
  readonly title: string;
  /** Which transactions were sent so far, and where the money is. */
  readonly money: string;
}

const numbers = (indexes: readonly number[]): string =>
  indexes.map((index) => String(index + 1)).join(" and ");

const moneyOf = (steps: readonly SigningStep[]): string => {
  const sent = steps.flatMap((step, index) => (wasSent(step) ? [{ step, index }] : []));
  const moving = sent.filter(({ step }) => !isApproval(step.action));
  if (sent.length === 0) return "Nothing was sent, and the money is in your wallets.";
  if (moving.length === 0) {
    return sent.length === 1
      ? "The approval was sent and stays good for exactly this amount; the money is in your wallet."
      : "The approvals were sent and stay good for exactly these amounts; the money is in your wallets.";
  }
  return `The transaction of step ${numbers(moving.map(({ index }) => index))} was sent and moves its money. Finish the other steps so that the service follows it.`;
};

/** Why signing stopped; null while signing runs or has not begun. */
export const standingOf = (steps: readonly SigningStep[]): Standing | null => {
  const index = steps.findIndex(({ at }) => STOPPED.has(at.state));
  const step = steps[index];
  if (step === undefined) return null;
  const where = `step ${String(index + 1)} of ${String(steps.length)}`;
  const title =
    step.at.state === "rejected"
      ? `You rejected ${where}.`
      : step.at.state === "failed"
        ? `S${where.slice(1)} did not work: ${step.at.reason}`
        : `S${where.slice(1)} needs another account.`;
  return { title, money: moneyOf(steps) };
};

/** An action that the person's wallet must sign before execution, as prepare returns it. */
export type Action = ResponseOf<typeof prepareSwap>["actions"][number];

/** The answer to an action, in the form that execute accepts. */
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
  /** The wallet shows the request to the person. */
  | { readonly state: "asking" }
  /** Sent; the next step of the same wallet waits until this transaction is mined. */
  | { readonly state: "mining"; readonly txHash: string }
  | { readonly state: "done"; readonly signed: Signed }
  | { readonly state: "rejected" }
  /**
   * With a hash: the transaction was sent, and its outcome is unknown. Without: the step had no
   * effect.
   */
  | { readonly state: "failed"; readonly reason: string; readonly txHash?: string };

export interface SigningStep {
  readonly action: Action;
  readonly at: StepState;
  /**
   * Whether the step is an approval that an earlier preparation needed and the current preparation
   * does not need. The step is done, because the token stores the approval.
   */
  readonly kept: boolean;
}
