"use client";

import { useConnectModal } from "@rainbow-me/rainbowkit";
import { Flame, Wallet } from "lucide-react";
import type { ReactNode } from "react";
import { useConnect } from "wagmi";
import { BURNER_ID } from "@/components/features/burner/connector";
import { useDecorativeWalletIcons } from "./use-decorative-wallet-icons";
import { usePublicConfig } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

/** A wallet of the browser through RainbowKit, or, with local chains, the app's own burner wallet. */
export const ChooseWallet = (): ReactNode => {
  const { devnet } = usePublicConfig();
  const { openConnectModal } = useConnectModal();
  const { connect, connectors, error, isPending } = useConnect();
  useDecorativeWalletIcons();
  const burner = connectors.find((connector) => connector.id === BURNER_ID);
  return (
    <div className="flex flex-col gap-4">
      <Button
        variant="primary"
        size="lg"
        onClick={() => openConnectModal?.()}
        disabled={openConnectModal === undefined}
      >
        <Wallet aria-hidden /> Connect a wallet
      </Button>
      {devnet && burner !== undefined ? (
        <div className="flex flex-col gap-2 border-t pt-4">
          <Button size="lg" loading={isPending} onClick={() => connect({ connector: burner })}>
            <Flame aria-hidden /> Use the burner wallet
          </Button>
          <p className="text-sm text-fg-2">
            Burner wallet – development only. A key made in this browser, without an extension. It works on the local
            chains alone; never send real money to it.
          </p>
        </div>
      ) : null}
      {error === null ? null : (
        <Alert tone="danger" title="The wallet was not connected">
          {error.message.split("\n")[0]} Nothing was signed. Try again, or choose another wallet.
        </Alert>
      )}
    </div>
  );
};
