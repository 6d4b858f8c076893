"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { shortId } from "@/components/features/global-accounts/account";
import { AccountLink } from "@/components/features/global-accounts/account-link";
import { Actor } from "@/components/features/names/names";
import { isZero } from "@/components/features/swap/decimal";
import { useTreasury, walletName } from "@/components/features/wallets/use-wallets";
import { Address } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts, Card } from "@/components/ui/card";
import { ChainName, TokenMark } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { countText } from "@/lib/core/amount-text";
import { isFinal } from "@/lib/core/status";
import { FundingFacts, NetworkFeeFact } from "./funding-facts";
import {
  type AccountsPayout,
  countsOf,
  failureText,
  type Payout,
  type Total,
  totalsOf,
  type WalletsPayout,
} from "./payout";

export const TotalCard = ({ payout }: { readonly payout: Payout }): ReactNode => (
  <Card title="Total">
    <Facts className="-my-2">
      <Fact label="Rows">{countText(countsOf(payout).total)}</Fact>
      {totalsOf(payout).map((total) => (
        <TotalFacts key={total.unit} {...total} />
      ))}
      {payout.kind === "wallets" ? (
        <WalletFacts payout={payout} />
      ) : (
        <AccountFacts payout={payout} />
      )}
      <Fact label="Created">
        <Time value={payout.createdAt} absolute />
      </Fact>
      <Fact label={isFinal(payout.status) ? "Ended" : "Last change"}>
        <Time value={payout.updatedAt} absolute />
      </Fact>
      <Fact label="Created by">
        <Actor id={payout.createdBy} />
      </Fact>
      {payout.retryOf === null ? null : (
        <Fact label="Retries failed rows of">
          <PayoutLink id={payout.retryOf} />
        </Fact>
      )}
      {payout.status === "pending" && payout.expiresAt !== null ? (
        <Fact label="Expires">
          <Time value={payout.expiresAt} absolute />
        </Fact>
      ) : null}
    </Facts>
  </Card>
);

const PayoutLink = ({ id }: { readonly id: string }): ReactNode => (
  <Link href={`/payouts/${id}`} className="link font-mono text-sm" title={id}>
    {shortId(id)}
  </Link>
);

const TotalFacts = ({ unit, amount, paid }: Total): ReactNode => (
  <>
    <Fact
      strong
      label={
        <span className="inline-flex items-center gap-2">
          <TokenMark symbol={unit} /> Amount
        </span>
      }
    >
      <Amount value={amount} unit={unit} />
    </Fact>
    <Fact label="Paid">
      <Amount value={paid} unit={unit} />
    </Fact>
  </>
);

const SourceLink = ({ id }: { readonly id: string }): ReactNode => (
  <AccountLink id={id} copyLabel="Copy id of the source account" />
);

interface WithdrawalFactsProps {
  readonly account: NonNullable<WalletsPayout["account"]>;
  readonly unit: string;
}

const WithdrawalFacts = ({ account, unit }: WithdrawalFactsProps): ReactNode => (
  <>
    <Fact label="Account">
      <SourceLink id={account.accountId} />
    </Fact>
    {isZero(account.inTransit) ? null : (
      <Fact label="In transit">
        <Amount value={account.inTransit} unit={unit} />
        <span className="block text-sm text-fg-3">left the account and is not paid yet</span>
      </Fact>
    )}
    {isZero(account.returned) ? null : (
      <Fact label="Returned to the account">
        <Amount value={account.returned} unit={unit} />
      </Fact>
    )}
  </>
);

const AccountFacts = ({ payout }: { readonly payout: AccountsPayout }): ReactNode => (
  <>
    <Fact label="From">
      <SourceLink id={payout.sourceAccountId} />
    </Fact>
    <Fact label="If a row fails">{failureText(payout.mode)}</Fact>
  </>
);

const WalletFacts = ({ payout }: { readonly payout: WalletsPayout }): ReactNode => {
  const treasury = useTreasury();
  return (
    <>
      {payout.account === null ? null : (
        <WithdrawalFacts account={payout.account} unit={payout.totals[0]?.token.symbol ?? ""} />
      )}
      {payout.networkFee === null ? null : <NetworkFeeFact fee={payout.networkFee} />}
      <Fact label="From">
        <Address
          value={payout.fromAddress}
          name={treasury?.id === payout.fromWalletId ? walletName(treasury) : undefined}
        />
      </Fact>
      <Fact label="Chain">
        <ChainName chainId={payout.chainId} />
      </Fact>
      <Fact label="Transactions">
        <span className="num">
          {payout.batches.settled} of {payout.batches.total} settled
        </span>
      </Fact>
      {payout.fundFrom === null ? null : (
        <Fact label="Missing money">
          {payout.fundedBy === null ? (
            "brought from other chains first"
          ) : (
            <Link
              href={`/activity/${payout.fundedBy}`}
              className="link"
              title={payout.fundedBy}
            >
              brought by {shortId(payout.fundedBy)}
            </Link>
          )}
        </Fact>
      )}
      {payout.funding === null ? null : <FundingFacts funding={payout.funding} />}
      {payout.scheduleId === null ? null : (
        <Fact label="Schedule">
          <Link
            href={`/payouts/schedules/${payout.scheduleId}`}
            className="link"
            title={payout.scheduleId}
          >
            {shortId(payout.scheduleId)}
          </Link>
        </Fact>
      )}
    </>
  );
};
