"use client";

import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { buttonLooks } from "@/components/ui/button-looks";
import { cn } from "@/components/ui/cn";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import type { Action } from "./form-model";
import { SendDesk } from "./send-desk";
import { SwapDesk } from "./swap-desk";
import { usePrivateSetup } from "./use-private-setup";

const ACTIONS = [
  { action: "shield", label: "Shield", title: "Shield", description: "Deposit from the treasury into a privacy pool." },
  {
    action: "transfer",
    label: "Transfer",
    title: "Private transfer",
    description: "Pay out of a pool. The recipient gets exactly the amount.",
  },
  {
    action: "swap",
    label: "Swap",
    title: "Private swap",
    description: "Swap inside of the pools: withdrawal, swap and deposit in one step.",
  },
  {
    action: "unshield",
    label: "Unshield",
    title: "Unshield",
    description: "Take money out of a pool, to the treasury or an address.",
  },
] as const satisfies readonly { action: Action; label: string; title: string; description: string }[];

/** One of the private actions, with the way to the others. */
export const ActionPage = ({ action }: { readonly action: Action }): ReactNode => {
  const state = usePrivateSetup();
  const current = ACTIONS.find((each) => each.action === action);
  return (
    <>
      <PageHeader
        title={current?.title ?? "Private"}
        description={current?.description}
        actions={
          <Link href="/private" className={buttonLooks()}>
            Private balances
          </Link>
        }
      />
      <ActionLinks />
      <EmailNotice />
      {state.state === "loading" ? (
        <Card flush>
          <LoadingRows what="private balances" rows={6} />
        </Card>
      ) : state.state === "failed" ? (
        <Card flush>
          <ErrorState error={state.error} onRetry={state.retry} />
        </Card>
      ) : action === "swap" ? (
        <SwapDesk setup={state.setup} />
      ) : (
        <SendDesk action={action} setup={state.setup} />
      )}
    </>
  );
};

/** The chosen wallet and pool stay chosen from action to action. */
const KEPT = ["wallet", "pool"] as const;

const ActionLinks = (): ReactNode => {
  const path = usePathname();
  const search = useSearchParams();
  const kept = new URLSearchParams(
    KEPT.flatMap((name) => {
      const value = search.get(name);
      return value === null ? [] : [[name, value]];
    }),
  ).toString();
  return (
    <nav aria-label="Private actions" className="mb-4 flex gap-4 overflow-x-auto border-b">
      {ACTIONS.map(({ action, label }) => {
        const href = `/private/${action}`;
        const current = path === href;
        return (
          <Link
            key={action}
            href={kept === "" ? href : `${href}?${kept}`}
            aria-current={current ? "page" : undefined}
            className={cn(
              "-mb-px flex h-9 items-center border-b-2 whitespace-nowrap touch-target",
              current ? "border-accent font-medium text-fg" : "border-transparent text-fg-2 hover:text-fg",
            )}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
};
