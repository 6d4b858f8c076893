"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { accountName, shortId } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { isZero } from "@/components/features/overview/sums";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { Address } from "@/components/ui/address";
import { Amount, Usd } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { CopyButton } from "@/components/ui/copy-button";
import { TokenMark } from "@/components/ui/marks";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { countText } from "@/lib/core/amount-text";
import { Actor } from "@/components/features/names/actor";
import { FundingFacts } from "./funding-facts";
import { countsOf, totalsOf, type AccountsPayout, type Payout, type WalletsPayout } from "./payout";

/** The payout's total, source, costs and related records. */
export const TotalCard = ({ payout }: { readonly payout: Payout }): ReactNode => (
  <Card title="Total">
    <Facts className="-my-2">
      <Fact label="Rows">{countText(countsOf(payout).total)}</Fact>
      {totalsOf(payout).map(({ unit, amount, paid }) => (
        <TotalFacts key={unit} unit={unit} amount={amount} paid={paid} />
      ))}
      {payout.kind === "wallets" ? <WalletFacts payout={payout} /> : <AccountFacts payout={payout} />}
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

const TotalFacts = ({ unit, amount, paid }: { unit: string; amount: string; paid: string }): ReactNode => (
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

const AccountLink = ({ id }: { readonly id: string }): ReactNode => {
  const source = useKnownAccounts().find((account) => account.id === id);
  return (
    <span className="inline-flex items-center gap-0.5">
      <Link href={`/accounts/${id}`} className="link" title={id}>
        {source === undefined ? shortId(id) : accountName(source)}
      </Link>
      <CopyButton value={id} label="Copy id of the source account" />
    </span>
  );
};

/** The account that bears the payout, and what became of its money; its entries are on its page. */
const WithdrawalFacts = ({
  account,
  unit,
}: {
  account: NonNullable<WalletsPayout["account"]>;
  unit: string;
}): ReactNode => (
  <>
    <Fact label="Account">
      <AccountLink id={account.accountId} />
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

const AccountFacts = ({ payout }: { readonly payout: AccountsPayout }): ReactNode => {
  return (
    <>
      <Fact label="From">
        <AccountLink id={payout.sourceAccountId} />
      </Fact>
      <Fact label="If a row fails">{payout.mode === "independent" ? "the others are paid" : "nothing is paid"}</Fact>
    </>
  );
};

const WalletFacts = ({ payout }: { readonly payout: WalletsPayout }): ReactNode => {
  const treasury = useTreasury();
  return (
    <>
      {payout.account === null ? null : (
        <WithdrawalFacts account={payout.account} unit={payout.totals[0]?.token.symbol ?? ""} />
      )}
      <NetworkFeeFact payout={payout} />
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
            <Link href={`/activity/${payout.fundedBy}`} className="link" title={payout.fundedBy}>
              brought by {shortId(payout.fundedBy)}
            </Link>
          )}
        </Fact>
      )}
      {payout.funding === null ? null : <FundingFacts funding={payout.funding} />}
      {payout.scheduleId === null ? null : (
        <Fact label="Schedule">
          <Link href={`/payouts/schedules/${payout.scheduleId}`} className="link" title={payout.scheduleId}>
            {shortId(payout.scheduleId)}
          </Link>
        </Fact>
      )}
    </>
  );
};

const NetworkFeeFact = ({ payout: { networkFee } }: { readonly payout: WalletsPayout }): ReactNode =>
  networkFee === null ? null : (
    <Fact label={networkFee.estimated ? "Network fee, estimated" : "Network fee"}>
      <Amount value={networkFee.amount} unit={networkFee.token.symbol} />
      {networkFee.usd === null ? null : (
        <>
          {" "}
          <Usd value={networkFee.usd} className="text-fg-2" />
        </>
      )}
      <span className="block text-sm text-fg-3">
        {networkFee.paidBy === "sponsor" ? "paid by the project's sponsor" : "paid by the treasury"}
      </span>
    </Fact>
  );
