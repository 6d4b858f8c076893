/** Screens the recipients of a batch again before their payments are signed or submitted. */
import { keysAmong } from "@/lib/trust/policies/service";
import { reasonOf, type Screened } from "@/lib/trust/screening/service";
import { screeningUnavailable, screeningStopped } from "./failures";
import { batchName, type Failure, type PayableRow } from "./payout-batch";
import type { Step } from "./step";

export interface StoppedRow {
  readonly row: PayableRow;
  readonly failure: Failure;
  /**
   * True when a screening source did not answer. The row then does not fail, because it may be paid
   * later.
   */
  readonly isTemporary: boolean;
}

const screened = (
  { screenAgain, payout, batch }: Pick<Step, "screenAgain" | "payout" | "batch">,
  rows: readonly PayableRow[],
  phase: "sign" | "broadcast",
): Promise<readonly Screened[]> => {
  const { projectId, payoutId: id, chainId, fromWalletId, askedBy } = payout;
  return screenAgain({
    ...{
      projectId,
      by: "payouts",
      walletIds: [fromWalletId],
      keyIds: keysAmong(askedBy),
    },
    addresses: rows.map(({ recipient }) => ({ address: recipient, chainId })),
    subject: { type: "payout", id, part: batchName(batch), phase },
  });
};

/**
 * Queries every screening source again about the recipients of all rows, in one call.
 * @returns the rows that may not be paid now
 */
export const stoppedRows = async (
  step: Pick<Step, "screenAgain" | "payout" | "batch">,
  rows: readonly PayableRow[],
): Promise<readonly StoppedRow[]> => {
  const found = await screened(step, rows, "sign");
  const byAddress = new Map(found.map((each) => [each.address.toLowerCase(), each.verdict]));
  return rows.flatMap((row) => {
    const verdict = byAddress.get(row.recipient.toLowerCase());
    if (verdict === undefined) return [];
    const isTemporary = verdict.state === "unavailable";
    const failure = isTemporary
      ? screeningUnavailable(reasonOf(verdict))
      : screeningStopped(reasonOf(verdict));
    return [{ row, failure, isTemporary }];
  });
};

/** Whether a signed batch may be submitted: screening is off, or stops none of its recipients. */
export const maySubmit = async (step: Step): Promise<boolean> => {
  if (!(await step.isScreening())) return true;
  return (
    (await screened(step, await step.repository.rowsOf(step.batch), "broadcast")).length === 0
  );
};
