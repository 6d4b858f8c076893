"use client";

import { useState, type ReactNode } from "react";
import type { Connector } from "wagmi";
import { BURNER_ID } from "@/components/features/burner/connector";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { useWalletAccounts } from "./use-wallet-accounts";
import { isRejection, reasonOf } from "./wallet-access";

interface AccountChooserProps {
  /** The account that is looked for; undefined where any will do. */
  readonly wanted?: string;
  /** Called with the accounts that the wallet now shows. */
  readonly onAccounts: (accounts: readonly string[]) => void;
}

const wordsOf = (connector: Connector, connected: boolean): string => {
  if (connector.id === BURNER_ID) return connected ? "Make another burner account" : "Use the burner wallet";
  return connected ? `Choose another account in ${connector.name}` : `Connect ${connector.name}`;
};

/** A button for each wallet of this browser: connects it, or asks it for another account. */
export const AccountChooser = (props: AccountChooserProps): ReactNode => (
  <WalletProviders>
    <Wallets {...props} />
  </WalletProviders>
);

const Wallets = ({ wanted, onAccounts }: AccountChooserProps): ReactNode => {
  const wallets = useWalletAccounts();
  const { isConnected, ask } = wallets;
  // A connected burner wallet shows all that it has; making another account finds none.
  const connectors = wallets.connectors.filter(
    (connector) => wanted === undefined || connector.id !== BURNER_ID || !isConnected(connector),
  );
  const [asked, setAsked] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (connector: Connector): Promise<void> => {
    setAsked(connector.uid);
    setProblem(null);
    try {
      const accounts = await ask(connector);
      const found = wanted === undefined || accounts.some((one) => one.toLowerCase() === wanted.toLowerCase());
      if (found) onAccounts(accounts);
      else setProblem(`${connector.name} shows ${accounts.map((one) => shorten(one)).join(", ")}, not this account.`);
    } catch (error) {
      setProblem(isRejection(error) ? `You rejected it in ${connector.name}.` : reasonOf(error));
    } finally {
      setAsked(null);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {connectors.map((connector) => (
          <Button
            key={connector.uid}
            loading={asked === connector.uid}
            disabled={asked !== null}
            onClick={() => void choose(connector)}
          >
            {wordsOf(connector, isConnected(connector))}
          </Button>
        ))}
      </div>
      {connectors.length === 0 ? (
        <p className="text-fg-2">This browser has no wallet. Install one as an extension, then load this page again.</p>
      ) : null}
      {problem === null ? null : (
        <Alert tone="warning" title="The account was not chosen">
          {problem} Nothing was signed.
        </Alert>
      )}
    </div>
  );
};
