"use client";

import type { ReactNode } from "react";
import { accountName } from "@/components/features/global-accounts/account";
import { Amount, Usd } from "@/components/ui/amount";
import { AddressGroups } from "@/components/ui/address-groups";
import { ChainMark } from "@/components/ui/marks";
import { Fact, Facts } from "@/components/ui/card";
import { formatAmount } from "@/lib/core/money";
import { FundingFacts } from "../funding-facts";
import { counted } from "./field-words";
import { PERIOD_WORDS, type ScheduleValues } from "./schedule-values";
import type { Checked, NewPayout } from "./use-new-payout";

interface ReviewFactsProps {
  readonly form: NewPayout;
  readonly checked: Checked;
}

/** The lines of the receipt: sender, recipients and costs. */
export const ReviewFacts = ({ form, checked }: ReviewFactsProps): ReactNode => (
  <Facts>
    <Sender form={form} checked={checked} />
    <Fact label="To">{recipientsText(checked)}</Fact>
    {form.totals.map((total) => (
      <Fact key={total.id} label="You send" strong>
        <Amount value={formatAmount(total.base, total.decimals)} unit={total.symbol} />
      </Fact>
    ))}
    {checked.kind === "wallets" ? <NetworkFee answer={checked.answer} /> : <Fact label="Fees">none</Fact>}
    {checked.kind === "wallets" ? (
      <>
        {checked.answer === null ? null : (
          <Fact label="Sent as">{counted(checked.answer.batches.total, "transaction")}</Fact>
        )}
        {checked.body.fundFrom === undefined || checked.answer === null ? null : checked.answer.funding === null ? (
          <Fact label="From other chains">nothing is missing</Fact>
        ) : (
          <FundingFacts funding={checked.answer.funding} />
        )}
        {checked.schedule === null ? null : (
          <ScheduleFacts schedule={checked.schedule} short={checked.answer === null} />
        )}
      </>
    ) : (
      <Fact label="If a row fails">
        {checked.body.mode === "independent" ? "the others are paid" : "nothing is paid"}
      </Fact>
    )}
    {form.duplicates.size === 0 ? null : (
      <Fact label="Duplicates">{counted(form.duplicates.size, "row")}, paid anyway</Fact>
    )}
    {checked.body.reference === undefined ? null : <Fact label="Reference">{checked.body.reference}</Fact>}
  </Facts>
);

const recipientsText = (checked: Checked): string => {
  const recipients = new Set(
    checked.kind === "wallets"
      ? checked.body.transfers.map(({ address }) => address.toLowerCase())
      : checked.body.transfers.map(({ recipientAccountId }) => recipientAccountId),
  ).size;
  const rows = counted(checked.body.transfers.length, "row");
  return checked.kind === "wallets"
    ? `${counted(recipients, "address", "addresses")} in ${rows}`
    : `${counted(recipients, "account")} in ${rows}`;
};

const Sender = ({ form: { target }, checked }: ReviewFactsProps): ReactNode => {
  if (checked.kind === "global_accounts")
    return (
      <Fact label="From">
        {target.source === undefined ? null : accountName(target.source)}
        <br />
        <code className="font-mono text-sm break-all text-fg-2">{checked.body.sourceAccountId}</code>
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

type WalletsAnswer = Extract<Checked, { kind: "wallets" }>["answer"];

const NetworkFee = ({ answer }: { readonly answer: WalletsAnswer }): ReactNode => {
  const fee = answer?.networkFee ?? null;
  return (
    <Fact label={fee?.estimated === false ? "Network fee" : "Network fee, estimated"}>
      {fee === null ? (
        <span className="text-fg-3">known once it is sent</span>
      ) : (
        <>
          <Amount value={fee.amount} unit={fee.token.symbol} />
          {fee.usd === null ? null : (
            <>
              {" "}
              <Usd value={fee.usd} className="text-fg-2" />
            </>
          )}
          <span className="block text-sm text-fg-3">
            {fee.paidBy === "sponsor" ? "paid by the project's sponsor" : "paid by the treasury"}
          </span>
        </>
      )}
    </Fact>
  );
};

const ScheduleFacts = ({
  schedule,
  short,
}: {
  readonly schedule: ScheduleValues;
  readonly short: boolean;
}): ReactNode => (
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
