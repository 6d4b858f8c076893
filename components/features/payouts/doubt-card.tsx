"use client";

import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ReasonDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ActionError } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { decidePayoutDoubt, listEntries, readProjectInbox } from "@/lib/api-client/calls.gen";
import { counted } from "./new/amount-rules";
import { isInDoubt, type Payout, type WalletsPayout } from "./payout";
import { useTakeOver } from "./use-payouts";

type Doubt = WalletsPayout["doubts"][number];
type Statement = "paid" | "not_paid";

interface DoubtProps {
  readonly payout: WalletsPayout;
  readonly doubt: Doubt;
}

const useDecided = (): ((payout: Payout) => void) => {
  const cache = useCache();
  const takeOver = useTakeOver();
  return (payout) => {
    takeOver(payout);
    void cache.refresh(listEntries, readProjectInbox);
    toast.success("Decided. The payout shows what was paid.");
  };
};

/**
 * Lists batches for which the service does not know whether they were paid, because the treasury
 * executed another transaction that was signed for the same rows. A person decides each of them.
 */
export const DoubtCard = ({ payout }: { readonly payout: Payout }): ReactNode =>
  !isInDoubt(payout) ? null : (
    <Card title="Was it paid?" id="doubt">
      <p>
        The treasury executed another transaction that was signed for these rows, and the
        service does not know what it paid. Do not pay them again before this is decided.
        {payout.account === null
          ? null
          : " Until then the money is neither paid nor back in the account."}
      </p>
      <ul className="mt-3 flex flex-col divide-y">
        {payout.doubts.map((doubt) => (
          <DoubtItem key={doubt.batch} payout={payout} doubt={doubt} />
        ))}
      </ul>
    </Card>
  );

const DoubtItem = ({ payout, doubt }: DoubtProps): ReactNode => {
  const [stating, setStating] = useState<Statement | null>(null);
  const mayDecide = useMay("policies:manage");
  const showDecided = useDecided();
  const check = useApiMutation(decidePayoutDoubt);
  const kept = keptAs(payout, doubt);
  useReopen(kept, (rest) => setStating(rest === "paid" ? "paid" : "not_paid"));
  const params = { id: payout.payoutId };
  const body = { batch: doubt.batch, decision: "by_chain" } as const;
  const ask = async (): Promise<void> => {
    const decided = await check.mutateAsync({ params, body }).catch(() => null);
    if (decided !== null) showDecided(decided);
  };
  return (
    <li className="flex flex-col gap-3 py-3 first:pt-0 last:pb-0">
      <span className="flex flex-wrap items-baseline justify-between gap-2">
        <span>{counted(doubt.rows, "row")}</span>
        <Amount value={doubt.amount} unit={doubt.token.symbol} />
      </span>
      {mayDecide ? (
        <>
          <ActionError error={check.error} money="Nothing was changed." />
          <div className="flex flex-wrap gap-2">
            <Button variant="primary" loading={check.isPending} onClick={() => void ask()}>
              Check the chain
            </Button>
            {check.error == null ? null : (
              <>
                <Button onClick={() => setStating("paid")}>It was paid …</Button>
                <Button onClick={() => setStating("not_paid")}>It was not paid …</Button>
              </>
            )}
          </div>
          <ApiSnippet call={decidePayoutDoubt} params={params} auth="bearer" body={body} />
        </>
      ) : (
        <p className="text-sm text-fg-2">An owner or an admin decides this.</p>
      )}
      {stating === null ? null : (
        <StatementDialog
          payout={payout}
          doubt={doubt}
          statement={stating}
          onClose={() => setStating(null)}
        />
      )}
    </li>
  );
};

/**
 * Start of the key under which a pending approval about a doubt is stored. The key ends with the
 * person's statement, `paid` or `not_paid`.
 */
const keptAs = ({ payoutId }: WalletsPayout, { batch }: Doubt): string =>
  `payout.doubt ${payoutId}/${String(batch)} `;

const WORDS = {
  paid: {
    title: "State that it was paid?",
    then: "It then counts as paid, and is never paid again.",
    act: "It was paid",
  },
  not_paid: {
    title: "State that it was not paid?",
    then: "Its money can be moved again. If it was paid after all, a second payment pays it twice.",
    act: "It was not paid",
  },
} as const;

interface StatementDialogProps extends DoubtProps {
  readonly statement: Statement;
  readonly onClose: () => void;
}

const StatementDialog = ({
  payout,
  doubt,
  statement,
  onClose,
}: StatementDialogProps): ReactNode => {
  const api = useApi();
  const showDecided = useDecided();
  const kept = `${keptAs(payout, doubt)}${statement}`;
  const change = useApprovable<string>(kept, async (reason, proof) => {
    const params = { id: payout.payoutId };
    const body = { batch: doubt.batch, decision: statement, reason, ...proof };
    showDecided(await api.call(decidePayoutDoubt, { params, body }));
    onClose();
  });
  const { title, then, act } = WORDS[statement];
  return (
    <ReasonDialog
      open
      onClose={onClose}
      title={title}
      description={`${counted(doubt.rows, "row")} of ${doubt.amount} ${doubt.token.symbol}. ${then}`}
      hint="Say how you checked it. It goes into the audit log with your name."
      act={act}
      money="Nothing was changed."
      change={change}
    />
  );
};
