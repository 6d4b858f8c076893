import { numberToHex, UserRejectedRequestError, type Hex } from "viem";
import type { Config, Connector } from "wagmi";
import {
  getConnections,
  getConnectorClient,
  getPublicClient,
  switchChain,
} from "wagmi/actions";
import { isSameText } from "@/lib/core/same-text";
import type { Action } from "./signing-model";

const RECEIPT_TIMEOUT_MS = 180_000;
const RECEIPT_POLL_MS = 1000;
/**
 * Error codes of a declined request: the code of EIP-1193, and the codes that WalletConnect and
 * some wallets use instead.
 */
const REJECTED_CODES: ReadonlySet<unknown> = new Set([4001, 5000, "ACTION_REJECTED"]);
const CAUSES_MAX = 8;

/** Whether the person declined, at any depth of the error's causes. */
export const isRejection = (error: unknown): boolean => {
  let cause = error;
  for (
    let depth = 0;
    depth < CAUSES_MAX && typeof cause === "object" && cause !== null;
    depth += 1
  ) {
    if (cause instanceof UserRejectedRequestError) return true;
    const { code, cause: next } = cause as { code?: unknown; cause?: unknown };
    if (REJECTED_CODES.has(code)) return true;
    cause = next;
  }
  return false;
};

/** The first line of a wallet's or library's error. The other lines are parameters and versions. */
export const reasonOf = (error: unknown): string => {
  const { shortMessage, message } = (error ?? {}) as {
    shortMessage?: unknown;
    message?: unknown;
  };
  const text = [shortMessage, message].find((one) => typeof one === "string") ?? "";
  return text.split("\n")[0]?.trim() || "The wallet gave no reason.";
};

/** The connected wallet that has this account now; undefined when no wallet has the account. */
export const connectorWith = async (
  config: Config,
  account: string,
): Promise<Connector | undefined> => {
  for (const { connector, accounts } of getConnections(config)) {
    // The accounts are read again, because some wallets report changed accounts late.
    const now = await connector.getAccounts().catch(() => accounts);
    if (now.some((one) => isSameText(one, account))) return connector;
  }
  return undefined;
};

interface Asked {
  readonly config: Config;
  readonly connector: Connector;
  readonly action: Action;
}

/**
 * Asks the wallet to sign or send the action on its chain. Resolves with the signature or the hash.
 *
 * @throws the wallet's error; see `isRejection`
 */
export const askWallet = async ({ config, connector, action }: Asked): Promise<Hex> => {
  const account = action.signerAddress;
  // The wallet switches to the action's chain first, because wallets refuse typed data for a chain
  // other than their current one.
  if ((await connector.getChainId()) !== action.chainId) {
    await switchChain(config, { connector, chainId: action.chainId });
  }
  const client = await getConnectorClient(config, {
    connector,
    account,
    chainId: action.chainId,
  });
  if (action.transaction !== undefined) {
    const { to, data, value, gas } = action.transaction;
    return client.request({
      method: "eth_sendTransaction",
      params: [
        {
          from: account,
          to: to,
          data: data as Hex,
          value: numberToHex(BigInt(value)),
          gas: numberToHex(BigInt(gas)),
        },
      ],
    });
  }
  // The data is not changed, because the service checks the signature over exactly these bytes.
  return client.request({
    method: "eth_signTypedData_v4",
    params: [account, JSON.stringify(action.typedData)],
  });
};

/**
 * Waits until the transaction is mined. Resolves with its hash, which differs when the wallet
 * replaced the transaction, or with null when it was reverted.
 * @throws when it is not mined in time
 */
export const untilMined = async (
  config: Config,
  chainId: number,
  hash: string,
): Promise<Hex | null> => {
  const client = getPublicClient(config, { chainId });
  if (client === undefined) throw new Error("This chain is not configured.");
  const receipt = await client.waitForTransactionReceipt({
    hash: hash as Hex,
    timeout: RECEIPT_TIMEOUT_MS,
    pollingInterval: RECEIPT_POLL_MS,
  });
  return receipt.status === "success" ? receipt.transactionHash : null;
};
