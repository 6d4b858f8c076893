/** Releases a quarantined deposit after a person's approval. */
import { actorName, type UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { sqlOf } from "@/lib/platform/db/sql";
import type { Database } from "@/lib/platform/db/client";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { changeQuarantine } from "@/lib/books/holds/service";
import { holdOf, tell, type WorthDeps, worthsOf } from "./apply";
import type { Deposit } from "./rows";
import { lockDeposit, releaseDeposit } from "./repository";
import type { DepositView } from "./view";

export interface ReleaseDeps extends WorthDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
}

export interface Release {
  readonly reason: string;
  readonly approval?: GivenApproval | undefined;
}

const notQuarantined = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This deposit is not in quarantine any more. Nothing was changed; read it again.",
  );

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This deposit changed while it was being released. Nothing was changed; read it again, and approve what it says now.",
  );

/** Whether the deposit still has the values that the person approved. */
const isApproved = (now: Deposit, then: Deposit): boolean =>
  now.amountBase === then.amountBase &&
  now.verdict === then.verdict &&
  now.sender === then.sender &&
  now.token === then.token &&
  now.walletAddress === then.walletAddress;

const changeOf = ({ deposit, token }: DepositView, reason: string): Change => {
  const amount = `${formatAmount(deposit.amountBase, token.decimals)} ${token.symbol}`;
  return {
    kind: "deposit.release",
    title: "Release a quarantined deposit, so that its money may be moved",
    lines: [
      `Deposit: ${amount} on chain ${String(deposit.chainId)}`,
      `From: ${deposit.sender ?? "an unknown sender"}`,
      `To: ${deposit.walletAddress}`,
      `Screening of the sender: ${deposit.verdict ?? "none"}`,
      `Reason: ${quoted(reason)}`,
    ],
    values: {
      id: deposit.id,
      amountBase: deposit.amountBase.toString(),
      verdict: deposit.verdict,
      reason,
    },
  };
};

const auditData = (deposit: Deposit, reason: string) => ({
  ...{
    reason,
    amountBase: deposit.amountBase.toString(),
    token: deposit.token,
    chainId: deposit.chainId,
  },
  ...{ sender: deposit.sender, walletId: deposit.walletId, verdict: deposit.verdict },
});

/**
 * Releases the money of a quarantined deposit, so that it can be moved again. Needs an approval.
 * @throws DomainError `invalid_state` when the deposit is not quarantined, is not final, or has
 * changed since the approval; `approval_required` and the other errors of `requireApproval`
 */
export const createRelease =
  (deps: ReleaseDeps) =>
  async (actor: UserActor, view: DepositView, { reason, approval }: Release): Promise<void> => {
    const { deposit } = view;
    if (deposit.state !== "quarantined") throw notQuarantined();
    if (!view.mayRelease)
      throw new DomainError(
        "invalid_state",
        "This deposit is not final yet. Release it once it has its confirmations.",
      );
    const approved = await deps.approvals.requireApproval(
      actor,
      changeOf(view, reason),
      approval,
    );
    const [usdMicro = null] = await worthsOf(deps, [deposit]);
    const at = deps.clock.now();
    await deps.database.transaction(async (tx) => {
      const sql = sqlOf(tx);
      const before = await lockDeposit(sql, deposit.projectId, deposit.id);
      if (before?.state !== "quarantined") throw notQuarantined();
      if (!isApproved(before, deposit)) throw changedMeanwhile();
      await approved.consume(tx);
      const decision = { by: actorName(actor), reason, at, usdMicro };
      if (!(await releaseDeposit(sql, before, decision))) throw notQuarantined();
      await changeQuarantine(sql, before.isHeld ? [holdOf(before, -1n)] : [], at);
      const after = {
        ...before,
        state: "released" as const,
        isHeld: false,
        usdMicro,
        updatedAt: at,
      };
      await tell(sql, deps.tokenOf, [{ after, isNew: false }], at);
      const data = { ...auditData(before, reason), ...approved.record };
      await recordAudit(tx, {
        ...doneBy(actor),
        action: "deposit.released",
        subject: before.id,
        data,
        at,
      });
    });
  };
