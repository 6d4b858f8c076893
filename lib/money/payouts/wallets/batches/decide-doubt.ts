/**
 * Settles a batch in doubt, whose payments another operation may have made, by the logs of the
 * chain, or by a person's statement when the logs prove nothing.
 */
import type { Actor, UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import {
  quoted,
  type Approved,
  type GivenApproval,
  type Change,
} from "@/lib/trust/proofs/service";
import { doneBy } from "@/lib/news/audit/service";
import type { PayoutsContext } from "../../context";
import type { WalletsPayout } from "../../payout";
import { tokenNamed, type WalletPayout } from "../wallet-payout";
import { agreedVerdict, contradicts, judge, withLost, type Verdict } from "./doubt";
import type { Decided, DoubtfulBatch } from "./doubt-repository";
import { PROVEN_UNPAID, STATED_UNPAID } from "./failures";
import { lostPaymentsAmong } from "./lost-payments";
import { namesOf } from "./payout-batch";

type DoubtDeps = Pick<
  PayoutsContext,
  "doubts" | "smartAccounts" | "approvals" | "lostMoves" | "clock"
>;

export type DoubtDecision =
  | { readonly decision: "by_chain" }
  | {
      readonly decision: "paid" | "not_paid";
      readonly reason: string;
      readonly approval?: GivenApproval | undefined;
    };

type Statement = Exclude<DoubtDecision, { readonly decision: "by_chain" }>;

interface Doubt extends DoubtfulBatch {
  readonly payout: WalletsPayout;
  readonly own: WalletPayout;
}

const noDoubt = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This part of the payout does not wait for a decision: it is in no doubt, or somebody decided already. Nothing was changed; read the payout again.",
  );

const UNSEEN =
  "The chain's node shows no transaction of this part, so it cannot tell whether it was paid. Look in the explorer of the chain, and state whether it was paid. Nothing was changed.";

const unclear = ({ row, isLost }: Extract<Verdict, { readonly kind: "unclear" }>): string =>
  isLost === true
    ? `A move that the database lost in a restore made a payment of this amount to ${row.recipient}, so the chain does not tell whether row ${String(row.index + 1)} was paid. Look in the explorer of the chain, and state whether this part was paid; where that move was another payment, the operator can release it. Nothing was changed.`
    : `The chain shows another payment to ${row.recipient} than row ${String(row.index + 1)} asks for, so it does not tell whether this row was paid. Look in the explorer of the chain, and state whether this part was paid. Nothing was changed.`;

const PROVEN =
  "The chain shows what became of this part, so no statement is needed. Nothing was changed; let it decide.";

const disagreement = (chainId: number): DomainError =>
  new DomainError(
    "chain_unavailable",
    `The providers of chain ${String(chainId)} do not agree about this part, or too few of them answer. Nothing was changed; try again in some minutes.`,
  );

const CONTRADICTED =
  "One provider of the chain proves something else than you state, and no other one agrees with it. Nothing was changed. Try again in some minutes; if it stays so, whoever runs the service must find the provider that is wrong.";

/**
 * Judges the batch once for each provider of the chain, from that provider's logs and receipts. A
 * row that an operation which the database lost in a restore may have paid makes a verdict
 * `unclear`.
 */
const verdictsOf = async (
  deps: DoubtDeps,
  { payout, own, batch, rows, knownHashes }: Doubt,
): Promise<readonly Verdict[]> => {
  // The database may have lost in a restore that the batch was divided, which moved some rows to
  // batches with other numbers. So the names of all possible batches are searched. A payout has at
  // most as many batches as rows.
  const names = Array.from({ length: payout.itemsTotal }, (_, number) =>
    namesOf({ ...batch, number }),
  ).flat();
  const opinions = await deps.smartAccounts.executedAttempts({
    ...{ chainId: own.chainId, account: own.fromAddress, names, since: payout.createdAt },
  });
  const ownNames = new Set(namesOf(batch));
  const token = tokenNamed(own.totals, batch.token);
  const verdicts = opinions.map((attempts) =>
    judge({
      ...{ token, rows },
      own: attempts.filter(({ name }) => ownNames.has(name)),
      others: attempts.filter(
        ({ name, userOpHash }) => !ownNames.has(name) && !knownHashes.has(userOpHash),
      ),
    }),
  );
  const unpaid = new Set(
    verdicts.flatMap((verdict) => (verdict.kind === "proven" ? verdict.unpaid : [])),
  );
  // The database may also have lost a retry of the rows. A retry is another payout, so its
  // operations have none of the searched names.
  const place = { projectId: payout.projectId, chainId: own.chainId, token };
  const lost = await lostPaymentsAmong(deps.lostMoves, place, [...unpaid]);
  return verdicts.map((verdict) => withLost(verdict, lost));
};

const amountOf = ({ own, batch }: Doubt): string => {
  const token = tokenNamed(own.totals, batch.token);
  return `${formatAmount(batch.amountBase, token.decimals)} ${token.symbol}`;
};

type Outcome = Pick<Decided, "unpaid" | "failure" | "by">;

const record = async (
  { doubts, clock }: DoubtDeps,
  actor: Actor,
  doubt: Doubt,
  {
    decision,
    outcome,
    approved = null,
    reason,
  }: {
    readonly decision: DoubtDecision["decision"];
    readonly outcome: Outcome;
    readonly approved?: Approved | null;
    readonly reason?: string;
  },
): Promise<void> => {
  const { payout, batch, rows } = doubt;
  const data = {
    ...{
      batch: batch.number,
      decision,
      amount: amountOf(doubt),
      unpaidRows: outcome.unpaid.length,
    },
    ...(outcome.by === null ? {} : { txHash: outcome.by.txHash }),
    ...(reason === undefined ? {} : { reason }),
    ...approved?.record,
  };
  const audit = {
    ...doneBy(actor),
    action: "payout.doubt_decided",
    subject: payout.id,
    data,
    at: clock.now(),
  };
  if (!(await doubts.store({ batch, rows, decision, ...outcome, approved, audit })))
    throw noDoubt();
};

const byChain = async (deps: DoubtDeps, actor: Actor, doubt: Doubt): Promise<void> => {
  const verdict = agreedVerdict(await verdictsOf(deps, doubt));
  if (verdict === null) throw disagreement(doubt.own.chainId);
  if (verdict.kind === "unseen") throw new DomainError("invalid_state", UNSEEN);
  if (verdict.kind === "unclear") throw new DomainError("invalid_state", unclear(verdict));
  const outcome = { unpaid: verdict.unpaid, failure: PROVEN_UNPAID, by: verdict.by };
  await record(deps, actor, doubt, { decision: "by_chain", outcome });
};

const changeOf = (doubt: Doubt, { decision, reason }: Statement): Change => {
  const { payout, batch, rows } = doubt;
  const isPaid = decision === "paid";
  const rest = isPaid ? "was paid" : "was not paid, so that its money can be moved again";
  return {
    kind: "payout.doubt_statement",
    title: `State that a part of a payout ${rest}`,
    lines: [
      `Payout: ${payout.id}${payout.reference === null ? "" : `, ${quoted(payout.reference)}`}`,
      `Part: ${String(batch.number)}, ${String(rows.length)} rows, ${amountOf(doubt)}`,
      ...(payout.sourceAccountId === null ? [] : [`Account: ${payout.sourceAccountId}`]),
      `Was it paid: ${isPaid ? "yes" : "no"}`,
      `Reason: ${quoted(reason)}`,
    ],
    values: { id: payout.id, batch: batch.number, version: batch.version, decision, reason },
  };
};

/**
 * Throws an error when a person's statement must not be accepted: the chain proves the result
 * without it, only one of the chain's providers answers, or a provider contradicts it. A wrong
 * statement could cause a row to be paid twice.
 */
const refuseKnown = async (
  deps: DoubtDeps,
  doubt: Doubt,
  decision: Statement["decision"],
): Promise<void> => {
  const verdicts = await verdictsOf(deps, doubt);
  const agreed = agreedVerdict(verdicts);
  if (agreed?.kind === "proven") throw new DomainError("invalid_state", PROVEN);
  if (verdicts.length === 1) throw disagreement(doubt.own.chainId);
  if (verdicts.some((verdict) => contradicts(verdict, decision, doubt.rows.length)))
    throw new DomainError("invalid_state", CONTRADICTED);
};

const asStated = async (
  deps: DoubtDeps,
  actor: UserActor,
  doubt: Doubt,
  statement: Statement,
): Promise<void> => {
  await refuseKnown(deps, doubt, statement.decision);
  const approved = await deps.approvals.requireApproval(
    actor,
    changeOf(doubt, statement),
    statement.approval,
  );
  const { decision, reason } = statement;
  const outcome = {
    unpaid: decision === "paid" ? [] : doubt.rows,
    failure: STATED_UNPAID,
    by: null,
  };
  await record(deps, actor, doubt, { decision, outcome, approved, reason });
};

/**
 * Settles a batch in doubt. `by_chain` settles each row as the chain's logs prove it, when two of
 * the chain's providers agree. A person's statement needs an approval, and is accepted only when
 * the providers agree on no proof and none of them contradicts the statement.
 * @throws DomainError `invalid_state` when the batch is not in doubt, when `by_chain` finds no
 * proof, or when a statement is not needed or is contradicted; `chain_unavailable`, also when the
 * providers do not agree or too few answer; `signing_off`; `approval_required` and the other errors
 * of `requireApproval`
 */
export const decideDoubt = async (
  deps: DoubtDeps,
  actor: UserActor,
  { payout, own }: { readonly payout: WalletsPayout; readonly own: WalletPayout },
  number: number,
  decision: DoubtDecision,
): Promise<void> => {
  // After a restore from a backup, payments that were made after the backup are unknown until the
  // chains were compared with the database.
  await deps.lostMoves.require();
  const found = await deps.doubts.find({
    projectId: payout.projectId,
    payoutId: payout.id,
    number,
  });
  if (found === null) throw noDoubt();
  const doubt = { ...found, payout, own };
  await (decision.decision === "by_chain"
    ? byChain(deps, actor, doubt)
    : asStated(deps, actor, doubt, decision));
};
