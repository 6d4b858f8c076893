"use client";

import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import type { Address as EvmAddress } from "viem";
import { signMessage } from "wagmi/actions";
import { AccountChooser } from "@/components/features/signing/account-chooser";
import {
  connectorWith,
  isRejection,
  reasonOf,
} from "@/components/features/signing/wallet-access";
import { usePublicConfig } from "@/components/providers/public-config";
import { openWallets } from "@/components/providers/wallets";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

interface SignWithWalletProps {
  /** The account that must sign; the service refuses other signatures. */
  readonly address: string;
  readonly message: string;
  readonly busy: boolean;
  readonly onApprove: (means: { readonly signature: string }) => Promise<boolean>;
  readonly label: string;
  readonly signsAtOnce: boolean;
}

export const SignWithWallet = ({
  address,
  message,
  busy,
  onApprove,
  label,
  signsAtOnce,
}: SignWithWalletProps): ReactNode => {
  const publicConfig = usePublicConfig();
  const [asking, setAsking] = useState(false);
  const [isMissing, setIsMissing] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const signed = async (): Promise<string | null> => {
    const config = await openWallets(publicConfig);
    const connector = await connectorWith(config, address);
    setIsMissing(connector === undefined);
    if (connector === undefined) return null;
    return signMessage(config, { connector, account: address as EvmAddress, message });
  };
  const sign = async (): Promise<void> => {
    setAsking(true);
    setProblem(null);
    try {
      const signature = await signed();
      if (signature !== null) await onApprove({ signature });
    } catch (error) {
      setProblem(isRejection(error) ? "You rejected it in the wallet." : reasonOf(error));
    } finally {
      setAsking(false);
    }
  };
  const begin = useEffectEvent(sign);
  useEffect(() => {
    // In development, React runs effects twice. The timer of the first run is cleared before it
    // fires, so the wallet receives one request.
    if (!signsAtOnce) return undefined;
    const timer = setTimeout(() => void begin(), 0);
    return () => clearTimeout(timer);
  }, [signsAtOnce]);
  return (
    <div className="flex flex-col gap-3">
      <p>
        Account <Address value={address} full />
      </p>
      {isMissing ? (
        <>
          <p className="text-fg-2">
            No connected wallet has this account. Choose the wallet that has it.
          </p>
          <AccountChooser wanted={address} onAccounts={() => setIsMissing(false)} />
        </>
      ) : (
        <div>
          <Button variant="primary" loading={asking || busy} onClick={() => void sign()}>
            {asking && !busy ? "Waiting for the signature …" : label}
          </Button>
        </div>
      )}
      {problem === null ? null : (
        <Alert tone="warning" title="It was not signed">
          {problem} Nothing was changed.
        </Alert>
      )}
    </div>
  );
};
