"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";

const SignWithWallet = dynamic(() => import("./sign-with-wallet").then((module) => module.SignWithWallet), {
  ssr: false,
  loading: () => <LoadingRows rows={1} what="your wallet" />,
});

interface WalletApprovalProps {
  readonly message: string;
  readonly busy: boolean;
  readonly onApprove: (means: { readonly signature: string }) => Promise<boolean>;
  /** Of the button. */
  readonly label?: string;
}

/** Has the message signed by the wallet that the person signs in with; another wallet's signature would be refused. */
export const WalletApproval = ({
  message,
  busy,
  onApprove,
  label = "Sign and approve",
}: WalletApprovalProps): ReactNode => {
  const me = useMe();
  if (me.isPending) return <LoadingRows rows={1} what="your wallet" />;
  if (me.data === undefined)
    return <ErrorState compact error={me.error} money="Nothing was changed." onRetry={() => void me.refetch()} />;
  return <SignWithWallet address={me.data.address} message={message} busy={busy} onApprove={onApprove} label={label} />;
};
