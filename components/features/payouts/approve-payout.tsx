"use client";

import type { ReactNode } from "react";
import { useAccountNames } from "@/components/features/global-accounts/account";
import { actText } from "@/components/features/money-flow/act-text";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ApproveAction } from "@/components/features/money-flow/approval-dialog";
import { AvailableAfter, ReceiptParty } from "@/components/features/money-flow/receipt-parts";
import { Actor } from "@/components/features/names/names";
import { useSentOnce } from "@/components/features/session/use-api";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts } from "@/components/ui/card";
import { QueryContent } from "@/components/ui/states";
import { approvePayout } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { FundingFacts, NetworkFeeFact } from "./funding-facts";
import { counted } from "./new/amount-rules";
import {
  awaitsApproval,
  countsOf,
  failureText,
  type Payout,
  totalsOf,
  type WalletsPayout,
} from "./payout";
import {
  AccountRecipient,
  PagedRecipients,
  RecipientItem,
  WalletRecipient,
} from "./recipient-item";
import { RowWarnings } from "./row-warnings";
import { usePayoutRows } from "./use-payout-rows";

const NOTHING_PAID = "Nothing was paid.";

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether the approval was accepted is not known. Approving again is safe: it is paid once."
    : NOTHING_PAID;

interface ApprovePayoutProps {
  readonly payout: Payout;
  readonly onApproved: (payout: Payout) => void;
}

export const ApprovePayout = ({ payout, onApproved }: ApprovePayoutProps): ReactNode => {
  const { payoutId } = payout;
  const { mutation, send } = useSentOnce(approvePayout);
  return (
    <ApproveAction
      mayApprove={payout.may.approve}
      votedId={payoutId}
      noun={payout.kind === "wallets" && payout.account !== null ? "withdrawal" : "payout"}
      warnings={payout.kind === "wallets" ? payout.warnings : []}
      act={actOf(payout)}
      description="Approving pays exactly these rows."
      subject={{ payoutId }}
      money={NOTHING_PAID}
      moneyAfter={moneyAfter}
      approval={mutation}
      onApprove={async (proof) =>
        onApproved(await send({ params: { id: payoutId }, body: proof }))
      }
      done="Approved. It is paid now."
    >
      <PayoutReceipt payout={payout} />
    </ApproveAction>
  );
};

/**
 * The receipt of a payout that waits for approval. Everybody who approves the payout sees the
 * values that its maker saw.
 */
export const PayoutReceipt = ({ payout }: { readonly payout: Payout }): ReactNode => (
  <>
    {payout.kind === "wallets" ? <RowWarnings warnings={payout.warnings} /> : null}
    <PayoutFacts payout={payout} />
    <ApprovalRecipients payout={payout} />
  </>
);

/** `Pay 20.00 USDC` for one row, `Send 12 payments, 4,250.00 USDC` for several. */
const actOf = (payout: Payout): string => {
  const { total } = countsOf(payout);
  const amounts = totalsOf(payout).map(({ unit, amount }) => ({ amount, symbol: unit }));
  return actText(total === 1 ? "Pay" : `Send ${countText(total)} payments,`, amounts);
};

const SourceAccount = ({ id }: { readonly id: string }): ReactNode => {
  const name = useAccountNames()(id);
  return (
    <>
      {name === undefined ? null : <span className="block font-medium">{name}</span>}
      <code className="font-mono text-sm break-all">{id}</code>
    </>
  );
};

const PayoutFacts = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { total } = countsOf(payout);
  return (
    <Facts className="border-b">
      {totalsOf(payout).map(({ unit, amount }) => (
        <Fact key={unit} label="You send" strong>
          <Amount value={amount} unit={unit} />
        </Fact>
      ))}
      <Fact label="To">{counted(total, "row")}</Fact>
      {payout.kind === "wallets" ? (
        <>
          {payout.account === null ? null : (
            <Fact label="Account">
              <SourceAccount id={payout.account.accountId} />
            </Fact>
          )}
          <Fact label="From">
            <ReceiptParty address={payout.fromAddress} chainId={payout.chainId} />
          </Fact>
        </>
      ) : (
        <Fact label="From">
          <SourceAccount id={payout.sourceAccountId} />
        </Fact>
      )}
      {payout.kind === "wallets" && payout.funding !== null ? (
        <FundingFacts funding={payout.funding} />
      ) : null}
      {payout.kind === "wallets" ? <NetworkFee payout={payout} /> : null}
      {payout.kind === "wallets" ? <TreasuryAfter payout={payout} /> : null}
      {payout.kind === "wallets" ? null : (
        <Fact label="If a row fails">{failureText(payout.mode)}</Fact>
      )}
      {payout.reference === null ? null : <Fact label="Reference">{payout.reference}</Fact>}
      <Fact label="Created by">
        <Actor id={payout.createdBy} />
      </Fact>
    </Facts>
  );
};

const NetworkFee = ({ payout }: { readonly payout: WalletsPayout }): ReactNode =>
  payout.networkFee === null ? (
    <Fact label="Network fee">
      <span className="text-fg-3">known once it is sent</span>
    </Fact>
  ) : (
    <NetworkFeeFact fee={payout.networkFee} />
  );

/**
 * The amount that the treasury may move after the payout. It is not shown in three cases: the
 * payout is already approved; the payout is a withdrawal, which is paid from the amount that backs
 * its account; or the payout first brings money from other chains.
 */
const TreasuryAfter = ({ payout }: { readonly payout: WalletsPayout }): ReactNode => {
  const { account, funding, fromAddress, chainId, totals } = payout;
  return !awaitsApproval(payout) || account !== null || funding !== null ? null : (
    <AvailableAfter
      from={totals.map(({ token, amount }) => ({
        address: fromAddress,
        chainId,
        token,
        amount,
      }))}
    />
  );
};

const LOADING_ROWS_MAX = 6;
/** Above this number of rows the dialog links to the page's table, which scrolls and filters. */
const SHORT_LIST_MAX = 10;

const ApprovalRecipients = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { total } = countsOf(payout);
  return (
    <div>
      <section
        aria-label="Recipients"
        tabIndex={0}
        className="max-h-[min(18rem,40dvh)] overflow-y-auto rounded-card border"
      >
        <Recipients payout={payout} />
      </section>
      {total > SHORT_LIST_MAX ? (
        // Opens another tab, because the person approves in this one.
        <a href={`/payouts/${payout.payoutId}#rows`} target="_blank" className="link text-sm">
          All {countText(total)} rows in a new tab
        </a>
      ) : null}
    </div>
  );
};

const Recipients = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const query = usePayoutRows(payout);
  const nameOf = useAccountNames();
  const { known } = useKnownAddresses(payout.kind === "wallets" ? payout.chainId : null);
  return (
    <QueryContent
      query={query}
      what="the rows"
      rows={Math.min(countsOf(payout).total, LOADING_ROWS_MAX)}
      compact
      money={NOTHING_PAID}
    >
      {(rows) => (
        <PagedRecipients rows={rows}>
          {({ index, recipient, amount, unit, reference, note }) => (
            <RecipientItem
              key={index}
              who={
                payout.kind === "wallets" ? (
                  <WalletRecipient address={recipient} known={known} />
                ) : (
                  <AccountRecipient id={recipient} name={nameOf(recipient)} />
                )
              }
              amount={amount}
              unit={unit}
              reference={[reference, note].find((text) => text !== "") ?? null}
            />
          )}
        </PagedRecipients>
      )}
    </QueryContent>
  );
};
