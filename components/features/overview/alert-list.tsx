"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import type { Balances } from "@/components/features/balances/use-balances";
import type { Me } from "@/components/features/profile/use-me";
import { usePartName } from "@/components/features/system/readiness";
import { useChain } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";

interface AlertListProps {
  readonly late: Balances["stale"];
  /** Chains with high network fees, each with an operation that waits. */
  readonly gas: readonly (readonly [chainId: number, operationId: string])[];
  readonly gasAlerts: Me["gasAlerts"];
  readonly budgets: Me["sponsorBudgets"];
  /** Parts of the service that do not work, each with the reason. */
  readonly down: readonly { readonly name: string; readonly detail: ReactNode }[];
  readonly signingOff: Me["signingOff"];
}

export const AlertList = ({
  late,
  gas,
  gasAlerts,
  budgets,
  down,
  signingOff,
}: AlertListProps): ReactNode => {
  const partName = usePartName();
  return (
    <div className="flex flex-col gap-2">
      {late.map((chain) => (
        <Alert
          key={chain.chainId}
          tone="warning"
          title={
            <>
              <ChainName chainId={chain.chainId} /> is late
            </>
          }
        >
          Its newest balances are not counted: {chain.reason}{" "}
          {chain.lastSeenAt === null ? (
            "It has not answered yet."
          ) : (
            <>
              Last seen <Time value={chain.lastSeenAt} />.
            </>
          )}
        </Alert>
      ))}
      {gas.map(([chainId, operationId]) => (
        <Alert
          key={chainId}
          tone="warning"
          title={
            <>
              Network fees on <ChainName chainId={chainId} /> are high
            </>
          }
        >
          Operations there wait until the fees fall.{" "}
          <Link href={`/activity/${operationId}`} className="link">
            Show an operation that waits
          </Link>
        </Alert>
      ))}
      {gasAlerts.map((alert) => (
        <GasAlert key={`${String(alert.chainId)} ${alert.account}`} alert={alert} />
      ))}
      {budgets.map((budget) => (
        <BudgetAlert key={budget.chainId} budget={budget} />
      ))}
      {down.map(({ name, detail }) => (
        <Alert key={name} tone="warning" title={`Not working: ${partName(name)}`}>
          {detail}
        </Alert>
      ))}
      {signingOff === null ? null : <SigningAlert signingOff={signingOff} />}
    </div>
  );
};

/**
 * Says that the service signs no payments. Signing stops after the database was replaced, for
 * example by a backup that lacks recent payments.
 */
const SigningAlert = ({
  signingOff,
}: {
  readonly signingOff: NonNullable<Me["signingOff"]>;
}): ReactNode => (
  <Alert tone="danger" title="Payments are paused">
    <p>
      Nothing is signed since <Time value={signingOff.since} />: {signingOff.reason}. Accepted
      payments wait.
    </p>
    <p>
      New payments are refused. Money that has not left is still in its wallet;{" "}
      <Link href="/activity?status=processing" className="link">
        Activity
      </Link>{" "}
      shows what is on its way. Ask the operator of the service to run “npm run reconcile”.
      Payments continue when it finds that the database and the chains agree.
    </p>
  </Alert>
);

const ACCOUNT_WORDS = {
  executor: "The account that sends the service's transactions",
  paymaster: "The paymaster that sponsors network fees",
} as const;

const GasAlert = ({ alert }: { readonly alert: Me["gasAlerts"][number] }): ReactNode => {
  const unit = useChain(alert.chainId)?.nativeCurrency.symbol;
  return (
    <Alert
      tone="warning"
      title={
        <>
          The service has little left for network fees on <ChainName chainId={alert.chainId} />
        </>
      }
    >
      {ACCOUNT_WORDS[alert.account]} has <Amount value={alert.balance} unit={unit} plain />{" "}
      since <Time value={alert.since} />. Payments there stop when it is used up, and nothing is
      lost. The operator of the service must top it up.
    </Alert>
  );
};

/**
 * Warns about a low sponsor budget. Once the budget is used up, operations that it would pay for
 * are refused.
 */
const BudgetAlert = ({
  budget,
}: {
  readonly budget: Me["sponsorBudgets"][number];
}): ReactNode => (
  <Alert
    tone="warning"
    title={
      <>
        The sponsor has little left for network fees on <ChainName chainId={budget.chainId} />
      </>
    }
  >
    <Amount value={budget.remaining} unit={budget.symbol} plain /> of{" "}
    <Amount value={budget.dailyLimit} unit={budget.symbol} plain /> are left today; new
    operations there are refused once it is used up. Wait for the reset at 00:00 UTC, or{" "}
    <Link href="/settings/sponsor-budgets" className="link">
      look at the limit
    </Link>
    .
  </Alert>
);
