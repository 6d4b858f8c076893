"use client";

import { useMe } from "@/components/features/profile/use-me";
import { useApiQuery } from "@/components/features/session/use-api";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { listApiKeys, listPayouts } from "@/lib/api-client/calls.gen";
import { isZero } from "./sums";
import { useBalances } from "./use-balances";
import { useOperations } from "./use-operations";

export interface FirstRunStep {
  readonly id: "sign-in" | "email" | "fund" | "link" | "swap" | "api-key" | "payout";
  readonly title: string;
  readonly why: string;
  readonly done: boolean;
  readonly href: string | null;
  readonly action: string;
}

/** `loading` until everything is known, so that no step flashes as undone; `failed` where a part cannot be read. */
export const useFirstRun = (): readonly FirstRunStep[] | "loading" | "failed" => {
  const me = useMe();
  const balances = useBalances();
  const completed = useOperations({ status: "completed", limit: 1 });
  const wallets = useWallets();
  const keys = useApiQuery(listApiKeys, {});
  const payouts = useApiQuery(listPayouts, { query: { limit: 1 } });
  if (!me.data || !balances.data || !completed.data || !wallets.data || !keys.data || !payouts.data)
    return [me, balances, completed, wallets, keys, payouts].some(({ data, isError }) => isError && data === undefined)
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
      why: "Open global accounts, and pay many from one.",
      done: payouts.data.data.length > 0,
      href: "/accounts",
      action: "Open an account",
    },
  ];
};
