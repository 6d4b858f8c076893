"use client";

import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { buttonLooks } from "@/components/ui/button-looks";
import { cn } from "@/components/ui/cn";
import { PageHeader } from "@/components/ui/page-header";
import { joinQueries, QueryPanel, type QueryState } from "@/components/ui/states";
import { useChosenWallet } from "../use-chosen-wallet";
import { usePrivacyWallets, usePrivateBalances } from "../use-private";
import type { Action } from "./form-model";
import { SendDesk } from "./send-desk";
import { SwapDesk } from "./swap-desk";
import type { PrivateSetup } from "./use-private-form";

interface ActionWords {
  readonly label: string;
  readonly title: string;
  readonly description: string;
}

const ACTIONS: Readonly<Record<Action, ActionWords>> = {
  shield: {
    label: "Shield",
    title: "Shield",
    description: "Deposit from the treasury into a privacy pool.",
  },
  transfer: {
    label: "Transfer",
    title: "Private transfer",
    description: "Pay out of a pool. The recipient gets exactly the amount.",
  },
  swap: {
    label: "Swap",
    title: "Private swap",
    description: "Swap inside of the pools: withdrawal, swap and deposit in one step.",
  },
  unshield: {
    label: "Unshield",
    title: "Unshield",
    description: "Take money out of a pool, to the treasury or an address.",
  },
};

export const ActionPage = ({ action }: { readonly action: Action }): ReactNode => {
  const query = usePrivateSetup();
  const { title, description } = ACTIONS[action];
  return (
    <>
      <PageHeader
        title={title}
        description={description}
        actions={
          <Link href="/private" className={buttonLooks()}>
            Private balances
          </Link>
        }
      />
      <ActionLinks />
      <EmailNotice />
      <QueryPanel query={query} what="private balances" rows={6}>
        {(setup) =>
          action === "swap" ? (
            <SwapDesk setup={setup} />
          ) : (
            <SendDesk action={action} setup={setup} />
          )
        }
      </QueryPanel>
    </>
  );
};

/** Query parameters that the links to other actions keep. */
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
      {Object.entries(ACTIONS).map(([action, { label }]) => {
        const href = `/private/${action}`;
        const current = path === href;
        return (
          <Link
            key={action}
            href={kept === "" ? href : `${href}?${kept}`}
            aria-current={current ? "page" : undefined}
            className={cn(
              "-mb-px flex h-9 items-center border-b-2 whitespace-nowrap touch-target",
              current
                ? "border-accent font-medium text-fg"
                : "border-transparent text-fg-2 hover:text-fg",
            )}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
};

const usePrivateSetup = (): QueryState<PrivateSetup> => {
  const balances = usePrivateBalances();
  const wallets = usePrivacyWallets();
  const swap = useSwapSetup();
  const chosen = useChosenWallet({ wallets, balances });
  // The service creates the first wallet when balances are read, so an empty list counts as
  // loading.
  const data =
    balances.data === undefined ||
    wallets.data === undefined ||
    chosen.walletId === "" ||
    swap.data === undefined
      ? undefined
      : { wallets: wallets.data.data, balances: balances.data, chosen, setup: swap.data };
  const queries = [balances, wallets, swap];
  const hasFailed = queries.some((query) => query.data === undefined && !query.isPending);
  return { ...joinQueries(queries, data), isPending: data === undefined && !hasFailed };
};
