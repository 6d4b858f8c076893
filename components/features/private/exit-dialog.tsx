"use client";

import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { AddressGroups } from "@/components/ui/address-groups";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts } from "@/components/ui/card";
import { startPrivateExit } from "@/lib/api-client/calls.gen";
import { TokenAmountText } from "./amounts";
import { pathOfTransfer } from "./kind-words";
import { usePrivateNames } from "./names";
import type { PrivateExit } from "./types";
import { useTakeOver } from "./use-private";

interface ExitDialogProps {
  readonly exit: PrivateExit;
  readonly onClose: () => void;
}

/** Starts the public return of an unapproved deposit to the treasury. The next page asks for the code that approves it. */
export const ExitDialog = ({ exit, onClose }: ExitDialogProps): ReactNode => {
  const router = useRouter();
  const names = usePrivateNames();
  const treasury = useTreasury();
  const takeOver = useTakeOver();
  const { mutation, send } = useSentOnce(startPrivateExit);
  const { chainId, noteId, privacyWalletId, amount } = exit;
  const start = async (): Promise<void> => {
    const transfer = await send({ body: { chainId, noteId, privacyWalletId } }).catch(() => null);
    if (transfer === null) return;
    takeOver(transfer);
    router.push(`${pathOfTransfer(transfer)}?approve=true`);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Take the deposit out in public"
      description="Nothing moves before you approve it with a one-time code."
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="primary" loading={mutation.isPending} onClick={() => void start()}>
            Take out in public
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Alert tone="warning" title="Everybody sees this">
          The public exit shows which deposit left, its amount and its time.
          {exit.state === "pending" ? " Once the deposit is approved you can unshield it in private instead." : null}
        </Alert>
        <Facts>
          <Fact label="From">{names.walletName(privacyWalletId)}</Fact>
          <Fact label="To">
            Treasury on <ChainName chainId={chainId} />
            {treasury === undefined ? null : (
              <>
                <br />
                <AddressGroups value={treasury.address} className="justify-end" />
              </>
            )}
          </Fact>
          <Fact label="Received exactly" strong>
            <TokenAmountText value={amount} whole />
          </Fact>
        </Facts>
        {mutation.error === null ? null : <ErrorState compact error={mutation.error} money="Nothing was sent." />}
      </div>
    </Dialog>
  );
};
