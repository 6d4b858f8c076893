"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { Dialog } from "@/components/ui/dialog";
import { LoadingRows } from "@/components/ui/skeleton";
import type { WalletRecord } from "./use-wallets";

const LinkSteps = dynamic(() => import("./link-steps").then((module) => module.LinkSteps), {
  ssr: false,
  loading: () => <LoadingRows rows={3} what="your wallets" />,
});

interface LinkDialogProps {
  readonly wallets: readonly WalletRecord[];
  readonly open: boolean;
  readonly onClose: () => void;
  /** Goes on to a smart account of the wallet that was linked. */
  readonly onSmartAccount: (owner: string) => void;
}

/** Choose an account → read the whole message → sign → linked. The session stays whose it is. */
export const LinkDialog = ({ open, onClose, ...props }: LinkDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={(next) => (next ? undefined : onClose())} title="Link a wallet" size="lg">
    <LinkSteps {...props} onClose={onClose} />
  </Dialog>
);
