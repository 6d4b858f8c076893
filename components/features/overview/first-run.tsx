"use client";

import { Check, Circle } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useApiKeys } from "@/components/features/api-keys/use-api-keys";
import { useBalances } from "@/components/features/balances/use-balances";
import { FundButtons } from "@/components/features/faucet/fund";
import { completedSwapQuery } from "@/components/features/operations/operation";
import { newestPayoutsQuery } from "@/components/features/payouts/use-payouts";
import { useMe } from "@/components/features/profile/use-me";
import { useLiveQuery } from "@/components/features/session/use-api";
import { isZero } from "@/components/features/swap/decimal";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { usePreference, writePreference } from "@/components/ui/preferences";

/** From this number of completed steps on, only a single line with the next step is shown. */
const DONE_FOR_BAR = 3;
const BAR_LOOKS =
  "flex min-h-[42px] flex-wrap items-center gap-x-4 gap-y-1 rounded-card border bg-surface py-1.5 pr-2 pl-4";

/**
 * The first steps of a new project; whether each is done is computed from the project's data.
 * Hidden when all are done, or when the person hides them.
 */
export const FirstRun = (): ReactNode => {
  const steps = useFirstRun();
  const hidden = usePreference("firstStepsHidden") !== null;
  // If the steps load late, only the bar is shown. It fits into the reserved space, and the longer
  // list would move the page.
  const [isLate] = useState(steps === "loading");
  const isDone = typeof steps !== "string" && steps.every((step) => step.done);
  useEffect(() => {
    // Stores that the steps are done, so that the next visit reserves no space for them.
    if (isDone) writePreference("firstStepsHidden", "1");
  }, [isDone]);
  if (hidden || steps === "failed") return null;
  if (steps === "loading") return <div className={BAR_LOOKS} />;
  const next = steps.find((step) => !step.done);
  if (next === undefined) return null;
  const done = steps.filter((step) => step.done).length;
  return isLate || done >= DONE_FOR_BAR ? (
    <Bar next={next} done={done} count={steps.length} />
  ) : (
    <Card
      title="First steps"
      description={`${String(done)} of ${String(steps.length)} done`}
      flush
      actions={<HideButton />}
    >
      <ol className="divide-y">
        {steps.map((step) => (
          <StepLine key={step.id} step={step} current={step === next} />
        ))}
      </ol>
    </Card>
  );
};

const HideButton = (): ReactNode => (
  <Button size="sm" variant="ghost" onClick={() => writePreference("firstStepsHidden", "1")}>
    Hide
  </Button>
);

interface BarProps {
  readonly next: FirstRunStep;
  readonly done: number;
  readonly count: number;
}

const Bar = ({ next, done, count }: BarProps): ReactNode => (
  <section aria-label="First steps" className={BAR_LOOKS}>
    <span className="num font-medium">
      First steps: {done} of {count} done
    </span>
    <svg
      viewBox={`0 0 ${String(count)} 1`}
      preserveAspectRatio="none"
      className="h-1.5 w-24 overflow-hidden rounded-tag bg-sunken text-accent max-sm:hidden"
      aria-hidden
    >
      <rect width={done} height={1} fill="currentColor" />
    </svg>
    <span className="ml-auto flex flex-wrap items-center gap-x-3">
      <span className="text-fg-2 max-sm:hidden">
        Next: {next.title.charAt(0).toLowerCase() + next.title.slice(1)}
      </span>
      <StepActions step={next} />
      <HideButton />
    </span>
  </section>
);

const StepActions = ({ step }: { readonly step: FirstRunStep }): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <>
      {step.id === "fund" && devnet ? <FundButtons /> : null}
      {step.href === null ? null : (
        <Link href={step.href} className="link text-sm">
          {step.action}
        </Link>
      )}
    </>
  );
};

const StepLine = ({
  step,
  current,
}: {
  readonly step: FirstRunStep;
  readonly current: boolean;
}): ReactNode => (
  <li
    className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2"
    aria-current={current ? "step" : undefined}
  >
    {step.done ? (
      <Check className="size-4 shrink-0 text-success" aria-hidden />
    ) : (
      <Circle className="size-4 shrink-0 text-fg-3" aria-hidden />
    )}
    <span className={step.done ? "text-fg-3" : "font-medium"}>
      {step.title}
      <span className="sr-only">{step.done ? ", done" : ", to do"}</span>
    </span>
    {step.done ? null : <span className="text-sm text-fg-2">{step.why}</span>}
    {step.done ? null : (
      <span className="ml-auto flex flex-wrap items-center gap-2">
        <StepActions step={step} />
      </span>
    )}
  </li>
);

interface FirstRunStep {
  readonly id: "sign-in" | "email" | "fund" | "link" | "swap" | "api-key" | "payout";
  readonly title: string;
  readonly why: string;
  readonly done: boolean;
  readonly href: string | null;
  readonly action: string;
}

/**
 * `loading` until all data is loaded, so that no completed step briefly appears as open; `failed`
 * when some data cannot be loaded.
 */
const useFirstRun = (): readonly FirstRunStep[] | "loading" | "failed" => {
  const me = useMe();
  const balances = useBalances();
  const completed = useLiveQuery(completedSwapQuery);
  const wallets = useWallets();
  const keys = useApiKeys();
  const payouts = useQuery(newestPayoutsQuery(1));
  if (
    !me.data ||
    !balances.data ||
    !completed.data ||
    !wallets.data ||
    !keys.data ||
    !payouts.data
  )
    return [me, balances, completed, wallets, keys, payouts].some(
      ({ data, isError }) => isError && data === undefined,
    )
      ? "failed"
      : "loading";
  return [
    { id: "sign-in", title: "Sign in", why: "", done: true, href: null, action: "" },
    {
      id: "email",
      title: "Verify an e-mail address",
      why: "Codes that approve payments go there.",
      done: me.data.emailVerified,
      href: "/settings#email",
      action: "Add an address",
    },
    {
      id: "fund",
      title: "Fund the treasury",
      why: "The project's own wallet, at the same address on every chain.",
      done: balances.data.totals.some((total) => !isZero(total.amount)),
      href: "/wallets",
      action: "Show its address",
    },
    {
      id: "link",
      title: "Link a wallet of your own",
      why: "You can then send and swap its money too; you sign each payment yourself.",
      done: wallets.data.data.some((wallet) => wallet.kind === "linked"),
      href: "/wallets",
      action: "Link a wallet",
    },
    {
      id: "swap",
      title: "Make the first swap",
      why: "From several chains into one token, if you like.",
      done: completed.data.data.length > 0,
      href: "/swap",
      action: "New swap",
    },
    {
      id: "api-key",
      title: "Make an API key",
      why: "Everything here can be done by your own code.",
      done: keys.data.data.some((key) => key.revokedAt === null),
      href: "/api-keys?create=1",
      action: "New API key",
    },
    {
      id: "payout",
      title: "Make the first payout",
      why: "Pay many people at once, from a file or by the API.",
      done: payouts.data.data.length > 0,
      href: "/payouts/new",
      action: "New payout",
    },
  ];
};
