"use client";

import { useConnectModal } from "@rainbow-me/rainbowkit";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useAccount, useConnect } from "wagmi";
import { BURNER_ID } from "@/components/features/burner/connector";
import { usePublicConfig } from "@/components/providers/public-config";
import { openWallets } from "@/components/providers/wallets";
import { ChooseWallet, type WalletChoice } from "./choose-wallet";
import { SignInWallets } from "./sign-in-wallets";
import { SignMessage } from "./sign-message";

interface WalletStepsProps {
  /** The choice that loaded the wallets. It is carried out when the wallets are loaded. */
  readonly choice: WalletChoice;
  readonly from: string;
  readonly onConnected: (isConnected: boolean) => void;
}

/**
 * The steps that need a wallet: connecting it and signing the message. They are loaded after the
 * person has chosen a wallet, because the wallet libraries are larger than the rest of the page.
 */
export const WalletSteps = (props: WalletStepsProps): ReactNode => (
  <SignInWallets>
    <Steps {...props} />
  </SignInWallets>
);

const Steps = ({ choice, from, onConnected }: WalletStepsProps): ReactNode => {
  const { address, status } = useAccount();
  const { openConnectModal } = useConnectModal();
  const { connect, connectors, error, isPending } = useConnect();
  const isOpen = useOpenWallets();
  useDecorativeWalletIcons();
  const isConnected = status === "connected";
  useEffect(() => onConnected(isConnected), [isConnected, onConnected]);

  const choose = (chosen: WalletChoice): void => {
    const burner = connectors.find((connector) => connector.id === BURNER_ID);
    if (chosen === "browser") openConnectModal?.();
    else if (burner !== undefined) connect({ connector: burner });
  };
  const canChoose = isOpen && !isConnected && openConnectModal !== undefined;
  const isCarriedOut = useRef(false);
  useEffect(() => {
    if (!canChoose || isCarriedOut.current) return;
    isCarriedOut.current = true;
    choose(choice);
  });

  if (isConnected) return <SignMessage key={address} address={address} from={from} />;
  return (
    <ChooseWallet
      onChoose={choose}
      disabled={!canChoose}
      pending={isPending ? "burner" : null}
      problem={error === null ? null : (error.message.split("\n")[0] ?? "")}
    />
  );
};

/** Whether wallets that were connected before the page was loaded have been connected again. */
const useOpenWallets = (): boolean => {
  const publicConfig = usePublicConfig();
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    void openWallets(publicConfig).then(() => setIsOpen(true));
  }, [publicConfig]);
  return isOpen;
};

const UNNAMED_ICONS = "[data-rk] [role=img]:not([aria-label])";

/**
 * RainbowKit gives its wallet icons the role of an image, but no name. Each icon is beside the
 * wallet's name, so it is decorative and is marked as such when the dialog appears.
 */
const useDecorativeWalletIcons = (): void => {
  useEffect(() => {
    const mark = (): void => {
      for (const icon of document.querySelectorAll(UNNAMED_ICONS))
        icon.setAttribute("role", "presentation");
    };
    const observer = new MutationObserver(mark);
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["role"],
    });
    mark();
    return () => observer.disconnect();
  }, []);
};
