"use client";

import { type ReactNode, useState } from "react";
import type { Address, EIP1193Provider } from "viem";
import { type Connector, useConfig, useConnections, useConnectors } from "wagmi";
import { connect } from "wagmi/actions";
import { BURNER_ID } from "@/components/features/burner/connector";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { isSameText } from "@/lib/core/same-text";
import { isRejection, reasonOf } from "./wallet-access";

interface AccountChooserProps {
  /** The required account; undefined when any will do. */
  readonly wanted?: string;
  /** Called with the accounts that the wallet now exposes. */
  readonly onAccounts: (accounts: readonly string[]) => void;
}

const wordsOf = (connector: Connector, connected: boolean): string => {
  if (connector.id === BURNER_ID)
    return connected ? "Make another burner account" : "Use the burner wallet";
  return connected
    ? `Choose another account in ${connector.name}`
    : `Connect ${connector.name}`;
};

export const AccountChooser = (props: AccountChooserProps): ReactNode => (
  <WalletProviders>
    <Wallets {...props} />
  </WalletProviders>
);

const Wallets = ({ wanted, onAccounts }: AccountChooserProps): ReactNode => {
  const wallets = useWalletAccounts();
  const { isConnected, ask } = wallets;
  // When an account is required, a connected burner wallet is left out. It already exposes all its
  // accounts, and a new account would not be the required account.
  const connectors = wallets.connectors.filter(
    (connector) =>
      wanted === undefined || connector.id !== BURNER_ID || !isConnected(connector),
  );
  const [pendingUid, setPendingUid] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (connector: Connector): Promise<void> => {
    setPendingUid(connector.uid);
    setProblem(null);
    try {
      const accounts = await ask(connector);
      const found = wanted === undefined || accounts.some((one) => isSameText(one, wanted));
      if (found) onAccounts(accounts);
      else
        setProblem(
          `${connector.name} shows ${accounts.map((one) => shorten(one)).join(", ")}, not this account.`,
        );
    } catch (error) {
      setProblem(
        isRejection(error) ? `You rejected it in ${connector.name}.` : reasonOf(error),
      );
    } finally {
      setPendingUid(null);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {connectors.map((connector) => (
          <Button
            key={connector.uid}
            loading={pendingUid === connector.uid}
            disabled={pendingUid !== null}
            onClick={() => void choose(connector)}
          >
            {wordsOf(connector, isConnected(connector))}
          </Button>
        ))}
      </div>
      {connectors.length === 0 ? (
        <p className="text-fg-2">
          This browser has no wallet. Install one as an extension, then load this page again.
        </p>
      ) : null}
      {problem === null ? null : (
        <Alert tone="warning" title="The account was not chosen">
          {problem} Nothing was signed.
        </Alert>
      )}
    </div>
  );
};

interface ConnectedAccount {
  readonly address: Address;
  readonly connector: Connector;
}

interface WalletAccounts {
  /** Every account that a connected wallet exposes to this page. */
  readonly accounts: readonly ConnectedAccount[];
  /** Wallets that can be asked for accounts, connected or not. */
  readonly connectors: readonly Connector[];
  readonly isConnected: (connector: Connector) => boolean;
  /**
   * Connects the wallet, or requests further accounts from a connected one (EIP-2255; the burner
   * wallet creates one). The session depends on a cookie, not on the account, so it stays the same.
   * @throws the wallet's error, for instance when the person declines
   */
  readonly ask: (connector: Connector) => Promise<readonly Address[]>;
}

const UNKNOWN_METHODS: ReadonlySet<unknown> = new Set([-32601, 4200]);

const isUnknownMethod = (error: unknown): boolean =>
  UNKNOWN_METHODS.has((error as { code?: unknown } | null)?.code);

/**
 * Whether the chooser can offer the wallet. WalletConnect has two connectors: one with its own
 * window, and one for RainbowKit's dialog. Only the connector with its own window is offered.
 */
const isUsable = (connector: Connector): boolean => {
  if (connector.type === "walletConnect") {
    return (
      (connector as { rkDetails?: { showQrModal?: boolean } }).rkDetails?.showQrModal === true
    );
  }
  // The plain injected connector does not work without an extension.
  return (
    connector.type === BURNER_ID || connector.id !== "injected" || "ethereum" in globalThis
  );
};

export const useWalletAccounts = (): WalletAccounts => {
  const config = useConfig();
  const connections = useConnections();
  const connectors = useConnectors().filter(isUsable);
  const isConnected = (connector: Connector): boolean =>
    connections.some((connection) => connection.connector.uid === connector.uid);

  const ask = async (connector: Connector): Promise<readonly Address[]> => {
    if (!isConnected(connector)) return (await connect(config, { connector })).accounts;
    const provider = (await connector.getProvider()) as EIP1193Provider;
    await provider
      .request({ method: "wallet_requestPermissions", params: [{ eth_accounts: {} }] })
      .catch((error: unknown) => {
        // Without this method, the person changes the account inside the wallet. The new account is
        // read below.
        if (!isUnknownMethod(error)) throw error;
      });
    const accounts = await connector.getAccounts();
    connector.emitter.emit("change", { accounts });
    return accounts;
  };

  return {
    accounts: connections.flatMap(({ accounts, connector }) =>
      accounts.map((address) => ({ address, connector })),
    ),
    connectors,
    isConnected,
    ask,
  };
};
