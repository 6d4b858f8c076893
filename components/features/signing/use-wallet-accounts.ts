"use client";

import type { Address, EIP1193Provider } from "viem";
import { useConfig, useConnections, useConnectors, type Connector } from "wagmi";
import { connect } from "wagmi/actions";
import { BURNER_ID } from "@/components/features/burner/connector";

export interface ConnectedAccount {
  readonly address: Address;
  readonly connector: Connector;
}

export interface WalletAccounts {
  /** Every account that a connected wallet shows to this page. */
  readonly accounts: readonly ConnectedAccount[];
  /** Wallets that can be asked for accounts, connected or not. */
  readonly connectors: readonly Connector[];
  readonly isConnected: (connector: Connector) => boolean;
  /**
   * Connects the wallet; one that is connected is asked for further accounts (EIP-2255; the burner wallet makes one). The session
   * stays whose it is: it hangs on a cookie, not on the account.
   * @throws what the wallet throws, when the person says no for instance
   */
  readonly ask: (connector: Connector) => Promise<readonly Address[]>;
}

const UNKNOWN_METHODS: ReadonlySet<unknown> = new Set([-32601, 4200]);

const isUnknownMethod = (error: unknown): boolean => UNKNOWN_METHODS.has((error as { code?: unknown } | null)?.code);

/** WalletConnect is there twice: one with a window of its own, one for RainbowKit's. */
const isUsable = (connector: Connector): boolean => {
  if (connector.type === "walletConnect") {
    return (connector as { rkDetails?: { showQrModal?: boolean } }).rkDetails?.showQrModal === true;
  }
  // The plain injected wallet is nothing without an extension.
  return connector.type === BURNER_ID || connector.id !== "injected" || "ethereum" in globalThis;
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
        // The person then changes the account inside the wallet; it is read below.
        if (!isUnknownMethod(error)) throw error;
      });
    const accounts = await connector.getAccounts();
    connector.emitter.emit("change", { accounts });
    return accounts;
  };

  return {
    accounts: connections.flatMap(({ accounts, connector }) => accounts.map((address) => ({ address, connector }))),
    connectors,
    isConnected,
    ask,
  };
};
