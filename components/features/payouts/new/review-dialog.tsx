"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { accountName, useAccountNames } from "@/components/features/global-accounts/account";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { AddressGroups } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { ActionError } from "@/components/ui/states";
import { Checkbox } from "@/components/ui/field";
import { ChainMark } from "@/components/ui/marks";
import {
  createAccountsPayout,
  createPayoutSchedule,
  createWalletsPayout,
  listPayouts,
  listPayoutSchedules,
} from "@/lib/api-client/calls.gen";
import type { Warning } from "@/lib/contracts/warnings";
import { formatAmount } from "@/lib/core/money";
import { FundingFacts, NetworkFeeFact } from "../funding-facts";
import {
  AccountRecipient,
  PagedRecipients,
  RecipientItem,
  WalletRecipient,
} from "../recipient-item";
import { failureText, pathOfPayout, pathOfSchedule, type WalletsPayout } from "../payout";
import { RowWarnings } from "../row-warnings";
import { dropDraft } from "./draft-row";
import { counted } from "./amount-rules";
import { PERIOD_WORDS, type ScheduleValues, toSchedule } from "./schedule-values";
import type { Checked, NewPayout } from "./use-new-payout";

interface ReviewDialogProps {
  readonly form: NewPayout;
  readonly checked: Checked;
  readonly onClose: () => void;
}

const useCreate = () => {
  const cache = useCache();
  const wallets = useSentOnce(createWalletsPayout);
  const accounts = useSentOnce(createAccountsPayout);
  const schedules = useSentOnce(createPayoutSchedule);
  const send = async (checked: Checked): Promise<Created | null> => {
    if (checked.kind === "wallets" && checked.schedule !== null) {
      const timing = toSchedule(checked.schedule);
      if (timing === null) return null;
      const { chainId, transfers, reference, fundFrom } = checked.body;
      const schedule = await schedules.send({
        body: { chainId, transfers, reference, fundFrom, ...timing },
      });
      void cache.refresh(listPayoutSchedules);
      // When the rows were validated before, the review has already shown these warnings.
      return {
        path: pathOfSchedule(schedule),
        warnings: checked.answer === null ? schedule.warnings : NONE,
      };
    }
    const payout =
      checked.kind === "wallets"
        ? await wallets.send({ body: checked.body })
        : await accounts.send({ body: checked.body });
    void cache.refresh(listPayouts);
    if (payout.payoutId === null) return null;
    return { path: pathOfPayout({ ...payout, payoutId: payout.payoutId }), warnings: NONE };
  };
  const all = [wallets, accounts, schedules].map(({ mutation }) => mutation);
  return {
    send,
    pending: all.some((one) => one.isPending),
    error: all.find((one) => one.error !== null)?.error ?? null,
  };
};

interface Created {
  readonly path: string;
  /** Warnings that the review did not show. */
  readonly warnings: readonly Warning[];
}

const NONE: readonly Warning[] = [];

/**
 * Shows the warnings of a new schedule before the page that asks for the approval. Only for
 * schedules whose rows were not validated before.
 */
const CreatedDialog = ({ created }: { readonly created: Created }): ReactNode => {
  const { path, warnings } = created;
  const router = useRouter();
  const open = (): void => router.push(path);
  return (
    <Dialog
      onClose={open}
      title="The schedule waits for its approval"
      description="Nothing is paid before somebody approves it."
      size="lg"
      footer={
        <Button variant="primary" onClick={open}>
          Open the schedule
        </Button>
      }
    >
      <RowWarnings warnings={warnings} />
    </Dialog>
  );
};

/**
 * Summary of rows that the service has just validated. Creating the payout moves no money, because
 * it must first be approved with a code.
 */
export const ReviewDialog = ({ form, checked, onClose }: ReviewDialogProps): ReactNode => {
  const router = useRouter();
  const { send, pending, error } = useCreate();
  const [compared, setCompared] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  // Duplicates are left out, because the form marks their rows and the person chose to pay them.
  const warnings = (checked.kind === "wallets" ? (checked.answer?.warnings ?? []) : []).filter(
    ({ code }) => code !== "duplicate_row",
  );
  const mistakable = warnings.some(({ code }) => code === "lookalike_recipient");
  const scheduled = checked.kind === "wallets" && checked.schedule !== null;
  const create = async (): Promise<void> => {
    const made = await send(checked).catch(() => null);
    if (made === null) return;
    dropDraft();
    if (made.warnings.length === 0) router.push(made.path);
    else setCreated(made);
  };
  if (created !== null) return <CreatedDialog created={created} />;
  return (
    <Dialog
      onClose={onClose}
      title={scheduled ? "Check the schedule" : "Check the payout"}
      description="The service accepts every row. Nothing is paid before you review and approve it."
      size="lg"
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="primary"
            loading={pending}
            disabled={mistakable && !compared}
            onClick={() => void create()}
          >
            {scheduled ? "Create schedule" : "Create payout"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ReviewFacts form={form} checked={checked} />
        <RowWarnings warnings={warnings}>
          {mistakable ? (
            <Checkbox
              label="I have compared the whole addresses with whom they belong to."
              checked={compared}
              onChange={(event) => setCompared(event.target.checked)}
            />
          ) : null}
        </RowWarnings>
        <RecipientList checked={checked} form={form} />
        <ActionError error={error} money="Nothing was paid." />
      </div>
    </Dialog>
  );
};

type ReviewFactsProps = Omit<ReviewDialogProps, "onClose">;

const ReviewFacts = ({ form, checked }: ReviewFactsProps): ReactNode => (
  <Facts>
    <Sender form={form} checked={checked} />
    <Fact label="To">{recipientsText(checked)}</Fact>
    {form.totals.map((total) => (
      <Fact key={total.id} label="You send" strong>
        <Amount value={formatAmount(total.base, total.decimals)} unit={total.symbol} />
      </Fact>
    ))}
    {checked.kind === "wallets" ? (
      <WalletFacts checked={checked} />
    ) : (
      <>
        <Fact label="Fees">none</Fact>
        <Fact label="If a row fails">{failureText(checked.body.mode)}</Fact>
      </>
    )}
    {form.duplicates.size === 0 ? null : (
      <Fact label="Duplicates">{counted(form.duplicates.size, "row")}, paid anyway</Fact>
    )}
    {checked.body.reference === undefined ? null : (
      <Fact label="Reference">{checked.body.reference}</Fact>
    )}
  </Facts>
);

type ToWallets = Extract<Checked, { kind: "wallets" }>;

const WalletFacts = ({ checked }: { readonly checked: ToWallets }): ReactNode => {
  const { answer, body, schedule } = checked;
  return (
    <>
      {answer === null || answer.networkFee === null ? (
        <Fact label="Network fee, estimated">
          <span className="text-fg-3">known once it is sent</span>
        </Fact>
      ) : (
        <NetworkFeeFact fee={answer.networkFee} />
      )}
      {answer === null ? null : (
        <Fact label="Sent as">{counted(answer.batches.total, "transaction")}</Fact>
      )}
      {answer === null || body.fundFrom === undefined ? null : (
        <Funding funding={answer.funding} />
      )}
      {schedule === null ? null : <ScheduleFacts schedule={schedule} short={answer === null} />}
    </>
  );
};

const Funding = ({ funding }: Pick<WalletsPayout, "funding">): ReactNode =>
  funding === null ? (
    <Fact label="From other chains">nothing is missing</Fact>
  ) : (
    <FundingFacts funding={funding} />
  );

const recipientsText = ({ kind, body }: Checked): string => {
  const rows = counted(body.transfers.length, "row");
  if (kind === "wallets") {
    const addresses = new Set(body.transfers.map(({ address }) => address.toLowerCase()));
    return `${counted(addresses.size, "address", "addresses")} in ${rows}`;
  }
  const accounts = new Set(body.transfers.map(({ recipientAccountId }) => recipientAccountId));
  return `${counted(accounts.size, "account")} in ${rows}`;
};

const Sender = ({ form: { target }, checked }: ReviewFactsProps): ReactNode => {
  if (checked.kind === "global_accounts")
    return (
      <Fact label="From">
        {target.source === undefined ? null : accountName(target.source)}
        <br />
        <code className="font-mono text-sm break-all text-fg-2">
          {checked.body.sourceAccountId}
        </code>
      </Fact>
    );
  return target.wallets === null ? null : (
    <>
      <Fact label="From">
        Treasury
        <br />
        <AddressGroups value={target.wallets.treasury} className="justify-end" />
      </Fact>
      <Fact label="Chain">
        <span className="inline-flex items-center gap-2">
          <ChainMark name={target.wallets.chainName} /> {target.wallets.chainName}
        </span>
      </Fact>
    </>
  );
};

interface ScheduleFactsProps {
  readonly schedule: ScheduleValues;
  /** Whether today's balance is too small. */
  readonly short: boolean;
}

const ScheduleFacts = ({ schedule, short }: ScheduleFactsProps): ReactNode => (
  <>
    <Fact label="Starts">
      <span className="num">{schedule.startsAt.replace("T", " ")}</span> {schedule.timeZone}
    </Fact>
    <Fact label="Repeats">{PERIOD_WORDS[schedule.every]}</Fact>
    {schedule.every === "once" || schedule.endsAt === "" ? null : (
      <Fact label="Ends">
        <span className="num">{schedule.endsAt.replace("T", " ")}</span>
      </Fact>
    )}
    {short ? <Fact label="Balance">too small today; each run checks it again</Fact> : null}
  </>
);

const RecipientList = ({ checked, form }: ReviewFactsProps): ReactNode => {
  const { wallets, source } = form.target;
  const { known } = useKnownAddresses(wallets?.chainId ?? null);
  const nameOf = useAccountNames();
  const symbolOf = (token: string): string =>
    wallets?.tokens.find(({ address }) => address === token)?.symbol ?? token;
  return (
    <section aria-label="Recipients" className="rounded-card border">
      {checked.kind === "wallets" ? (
        <PagedRecipients rows={checked.body.transfers}>
          {({ address, amount, token, reference }, index) => (
            <RecipientItem
              key={index}
              who={<WalletRecipient address={address} known={known} />}
              amount={amount}
              unit={symbolOf(token)}
              reference={reference ?? null}
            />
          )}
        </PagedRecipients>
      ) : (
        <PagedRecipients rows={checked.body.transfers}>
          {({ recipientAccountId: id, amount, reference }, index) => (
            <RecipientItem
              key={index}
              who={<AccountRecipient id={id} name={nameOf(id)} />}
              amount={amount}
              unit={source?.currency ?? ""}
              reference={reference ?? null}
            />
          )}
        </PagedRecipients>
      )}
    </section>
  );
};
