"use client";

import { ApprovalAdvice } from "@/components/features/inbox/decision";
import {
  ChevronDown,
  Copy,
  Download,
  FileSpreadsheet,
  Pencil,
  Printer,
  RotateCcw,
} from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useMutation } from "@tanstack/react-query";
import { AnnotationCard } from "@/components/features/annotations/annotation-card";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { CancelAction } from "@/components/features/money-flow/approval-dialog";
import { RawJson } from "@/components/features/operations/raw-json";
import { EvaluationCard } from "@/components/features/policies/evaluation-card";
import { useApi, useSentOnce } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { useChain } from "@/components/providers/public-config";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { describeError } from "@/components/ui/describe-error";
import { DropdownMenu, MenuItem } from "@/components/ui/dropdown-menu";
import { PageHeader } from "@/components/ui/page-header";
import { useFile } from "@/components/ui/save-file";
import { DetailPage, LoadingRows, QueryCard } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { useTitleOptions } from "@/components/ui/use-locale";
import { cancelPayout, getPayout, retryPayout } from "@/lib/api-client/calls.gen";
import { ApprovePayout } from "./approve-payout";
import { DoubtCard } from "./doubt-card";
import { type DraftValues, EMPTY_ROW, saveDraft } from "./new/draft-row";
import {
  awaitsApproval,
  countsOf,
  isInDoubt,
  pathOfPayout,
  type Payout,
  titleOf,
  usePayout,
} from "./payout";
import { PayoutPicture } from "./payout-picture";
import { PayoutStatus } from "./payout-status";
import { parseRowsFile, type PayoutRow } from "./rows-file";
import { RowsTable } from "./rows-table";
import { TotalCard } from "./total-card";
import { readRowsFile, usePayoutRows } from "./use-payout-rows";
import { useTakeOver } from "./use-payouts";

/** The number of loading rows that fit into the list, which scrolls. */
const LOADING_ROWS_MAX = 15;

const MONEY = "The payout continues without this page.";

export const PayoutPage = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const query = usePayout(payoutId);
  return (
    <DetailPage
      header={
        query.data === undefined ? (
          <PageHeader
            title="Payout"
            description={<PublicId value={payoutId} full />}
            actions={<AllPayouts />}
          />
        ) : (
          <Head payout={query.data} />
        )
      }
      query={query}
      what="the payout"
      money={MONEY}
      stale="The state could not be refreshed"
    >
      {(payout) => <LoadedPayout payout={payout} />}
    </DetailPage>
  );
};

const AllPayouts = (): ReactNode => (
  <Link href="/payouts" className={buttonLooks()}>
    All payouts
  </Link>
);

const LoadedPayout = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const query = usePayoutRows(payout);
  const rows = query.data;
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <>
      <NextStep payout={payout} />
      <DoubtCard payout={payout} />
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_19rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <PayoutPicture payout={payout} rows={rows} onChoose={setChosen} />
          {rows === undefined ? (
            <QueryCard
              id="rows"
              title="Rows"
              query={query}
              what="the rows"
              loading={
                <div className="max-h-[min(32rem,70dvh)] overflow-hidden">
                  <LoadingRows
                    what="the rows"
                    rows={Math.min(countsOf(payout).total, LOADING_ROWS_MAX)}
                  />
                </div>
              }
              money={MONEY}
            >
              {() => null}
            </QueryCard>
          ) : (
            <RowsTable payout={payout} rows={rows} chosen={chosen} onChosen={setChosen} />
          )}
          <AnnotationCard subjectId={payout.payoutId} isListed={false} />
        </div>
        <TotalCard payout={payout} />
      </div>
      <EvaluationCard evaluationId={payout.evaluationId} />
      <RawJson value={payout} />
      <ApiSnippet call={getPayout} params={{ id: payout.payoutId }} />
    </>
  );
};

const Head = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const options = useTitleOptions();
  const chain = useChain(payout.kind === "wallets" ? payout.chainId : 0);
  const kind =
    payout.kind === "wallets" && payout.account !== null ? "Withdrawal" : "Payout to wallets";
  const where =
    payout.kind === "wallets"
      ? `${kind} on ${chain?.name ?? "a chain"}`
      : "Payout between accounts";
  return (
    <PageHeader
      title={titleOf(payout, options)}
      description={
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {where} <PublicId value={payout.payoutId} /> <PayoutStatus payout={payout} />
        </span>
      }
      actions={<PayoutActions payout={payout} />}
    />
  );
};

const NextStep = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { failure, outcome } = payout;
  if (failure !== null)
    return (
      <Alert
        tone={isInDoubt(payout) ? "warning" : "danger"}
        title={
          isInDoubt(payout) ? "This payout is in doubt and needs a decision" : "Why it failed"
        }
      >
        {failure.message} <code className="font-mono text-sm text-fg-2">{failure.code}</code>
        <p className="wrap-anywhere">{outcome.nextAction}</p>
      </Alert>
    );
  if (awaitsApproval(payout))
    return (
      <Alert tone="warning" title="This payout waits for approval">
        <ApprovalAdvice subjectId={payout.payoutId} /> Nothing was paid.
      </Alert>
    );
  return <p className="wrap-anywhere text-fg-2">{outcome.nextAction}</p>;
};

const PayoutActions = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const router = useRouter();
  const takeOver = useTakeOver();
  const retry = useSentOnce(retryPayout);
  const cancellation = useSentOnce(cancelPayout);
  const { may } = payout;
  const words = payout.status === "pending" ? WORDS.whole : WORDS.rest;
  const params = { id: payout.payoutId };
  const ask = async (): Promise<void> => {
    try {
      const again = await retry.send({ params });
      takeOver(again);
      router.push(pathOfPayout(again));
    } catch (error) {
      toast.error(
        `The failed rows cannot be retried. ${describeError(error).message} Nothing more was paid.`,
      );
    }
  };
  return (
    <>
      {isEditable(payout) ? (
        <EditPayoutButton payout={payout} />
      ) : (
        <CopyPayoutButton payout={payout} />
      )}
      <ExportMenu payoutId={payout.payoutId} />
      {may.cancel ? (
        <CancelAction
          {...words}
          action={cancellation.mutation}
          money="The payout continues as before."
          cancel={async () => takeOver(await cancellation.send({ params }))}
        />
      ) : null}
      <ApprovePayout payout={payout} onApproved={takeOver} />
      {may.retry ? (
        <Button variant="primary" loading={retry.mutation.isPending} onClick={() => void ask()}>
          {retry.mutation.isPending ? null : <RotateCcw aria-hidden />} Retry failed rows
        </Button>
      ) : null}
    </>
  );
};

/**
 * Whether the payout's rows can be edited in the form. A withdrawal cannot, because its single row
 * comes from another form.
 */
const isEditable = (payout: Payout): boolean =>
  awaitsApproval(payout) &&
  payout.may.cancel &&
  (payout.kind === "global_accounts" || payout.account === null);

/**
 * Words for cancelling a payout that has not started, and for stopping the unsent rows of a payout
 * that has started.
 */
const WORDS = {
  whole: {
    title: "Cancel this payout?",
    text: "Nothing was paid, and nothing will be. This cannot be undone; you can create a new one.",
    confirmLabel: "Cancel the payout",
    done: "Cancelled. Nothing was paid.",
  },
  rest: {
    title: "Stop the rows that were not sent?",
    text: "Rows that were sent already are paid. The others stay unpaid, and their money stays in the treasury. This cannot be undone.",
    confirmLabel: "Stop unsent rows",
    done: "Rows that were not sent are stopped.",
  },
} as const;

const toDraft = (row: PayoutRow): DraftValues => ({
  ...EMPTY_ROW,
  recipient: row.recipient,
  amount: row.amount,
  token: row.token === "" ? row.unit : row.token,
  reference: row.reference,
  note: row.note,
  checked: true,
});

const formOf = (payout: Payout): string => {
  const address = new URLSearchParams(
    payout.kind === "wallets"
      ? { to: "wallets", chain: String(payout.chainId) }
      : { to: "global_accounts", from: payout.sourceAccountId, mode: payout.mode },
  );
  if (payout.reference !== null) address.set("reference", payout.reference);
  if (payout.kind === "wallets" && payout.funding !== null) address.set("fund", "auto");
  return `/payouts/new?${address.toString()}`;
};

/**
 * Properties of a button that opens the form with the payout's rows.
 * @param before called between reading the rows and opening the form
 */
const useAsDraft = (payout: Payout, before: () => Promise<void> = () => Promise.resolve()) => {
  const api = useApi();
  const router = useRouter();
  const treasury = useTreasury();
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const rows = parseRowsFile(await readRowsFile(api, payout.payoutId)).map(toDraft);
      await before();
      return rows;
    },
    onSuccess: (rows) => {
      saveDraft({ owner: treasury?.id ?? "", kind: payout.kind }, rows);
      router.push(formOf(payout));
    },
    onError: (error) => toast.error(`The form was not opened. ${describeError(error).message}`),
  });
  return { loading: isPending, disabled: treasury === undefined, onClick: () => mutate() };
};

const CopyPayoutButton = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const button = useAsDraft(payout);
  return (
    <Button {...button}>{button.loading ? null : <Copy aria-hidden />} Use as template</Button>
  );
};

/**
 * Cancels a payout that waits for its approval, and opens its rows in the form. It is cancelled
 * first, so that nobody can approve the old rows while they are edited.
 */
const EditPayoutButton = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const takeOver = useTakeOver();
  const { send } = useSentOnce(cancelPayout);
  const button = useAsDraft(payout, async () =>
    takeOver(await send({ params: { id: payout.payoutId } })),
  );
  return <Button {...button}>{button.loading ? null : <Pencil aria-hidden />} Edit</Button>;
};

const ExportMenu = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useFile(async () => ({
    text: await readRowsFile(api, payoutId),
    name: `${payoutId}.csv`,
  }));
  return (
    <DropdownMenu
      trigger={
        <Button loading={isPending}>
          {isPending ? null : <Download aria-hidden />} Export <ChevronDown aria-hidden />
        </Button>
      }
    >
      <MenuItem onSelect={() => mutate()}>
        <FileSpreadsheet aria-hidden /> Rows as CSV
      </MenuItem>
      <MenuItem asChild>
        <Link href={`/payouts/${payoutId}/receipt`}>
          <Printer aria-hidden /> Receipt for print or PDF
        </Link>
      </MenuItem>
    </DropdownMenu>
  );
};
