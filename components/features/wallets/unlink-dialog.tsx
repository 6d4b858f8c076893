"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { getUnifiedBalances, listWallets, unlinkWallet } from "@/lib/api-client/calls.gen";
import type { WalletRecord } from "./use-wallets";
import { walletName } from "./wallet-name";

interface UnlinkDialogProps {
  readonly wallet: WalletRecord | null;
  readonly onClose: () => void;
}

export const UnlinkDialog = ({ wallet, onClose }: UnlinkDialogProps): ReactNode => {
  const unlink = useApiMutation(unlinkWallet);
  const queryClient = useQueryClient();
  if (wallet === null) return null;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (open) return;
        unlink.reset();
        onClose();
      }}
      title={`Unlink “${walletName(wallet)}”?`}
      description={
        <div className="flex flex-col gap-2">
          <p>
            <code className="font-mono text-sm break-all text-fg">{wallet.address}</code> is no source any more. What it
            holds stays in it, under your own key, and what it did stays on record. You can link it again.
          </p>
          {unlink.isError ? <ErrorState compact error={unlink.error} money="The wallet is still linked." /> : null}
        </div>
      }
      confirmLabel="Unlink wallet"
      onConfirm={async () => {
        await unlink.mutateAsync({ params: { address: wallet.address } });
        toast.success(`“${walletName(wallet)}” is unlinked.`);
        await Promise.all(
          [listWallets, getUnifiedBalances].map((contract) =>
            queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) }),
          ),
        );
      }}
    />
  );
};
