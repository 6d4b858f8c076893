import { numberToHex, UserRejectedRequestError, type Hex } from "viem";
import type { Config, Connector } from "wagmi";
import { getConnections, getConnectorClient, getPublicClient, switchChain } from "wagmi/actions";
import type { Action } from "./types";

const RECEIPT_TIMEOUT_MS = 180_000;
const RECEIPT_POLL_MS = 1000;
/** The code of EIP-1193, and those that WalletConnect and some wallets use instead. */
const REJECTED_CODES: ReadonlySet<unknown> = new Set([4001, 5000, "ACTION_REJECTED"]);
const CAUSES_MAX = 8;

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether the person said no, wherever in the chain of causes a wallet or library put that. */
export const isRejection = (error: unknown): boolean => {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === "object" && cause !== null; depth += 1) {
    if (cause instanceof UserRejectedRequestError) return true;
    const { code, cause: next } = cause as { code?: unknown; cause?: unknown };
    if (REJECTED_CODES.has(code)) return true;
    cause = next;
  }
  return false;
};

/** The first line of what a wallet or library says; the rest are parameters and versions. */
export const reasonOf = (error: unknown): string => {
  const { shortMessage, message } = (error ?? {}) as { shortMessage?: unknown; message?: unknown };
  const text = typeof shortMessage === "string" ? shortMessage : typeof message === "string" ? message : "";
  return text.split("\n")[0]?.trim() || "The wallet gave no reason.";
};

/** The connected wallet that has this account now; undefined when none has. */
export const connectorWith = async (config: Config, account: string): Promise<Connector | undefined> => {
  for (const { connector, accounts } of getConnections(config)) {
    // Asked again, because some wallets report changed accounts late.
    const now = await connector.getAccounts().catch(() => accounts);
    if (now.some((one) => same(one, account))) return connector;
  }
  return undefined;
};

interface Asked {
  readonly config: Config;
  readonly connector: Connector;
  readonly action: Action;
}

/**
 * Lets the wallet sign or send what the action says, on the action's chain. Answers with the signature, or the hash.
 * @throws what the wallet throws; see `isRejection`
 */
export const askWallet = async ({ config, connector, action }: Asked): Promise<Hex> => {
  const account = action.signerAddress;
  // Wallets refuse typed data of another chain than the one they are on.
  if ((await connector.getChainId()) !== action.chainId) {
    await switchChain(config, { connector, chainId: action.chainId });
  }
  const client = await getConnectorClient(config, { connector, account, chainId: action.chainId });
  if (action.transaction !== undefined) {
    const { to, data, value, gas } = action.transaction;
    return client.request({
      method: "eth_sendTransaction",
      params: [
        { from: account, to: to, data: data as Hex, value: numberToHex(BigInt(value)), gas: numberToHex(BigInt(gas)) },
      ],
    });
  }
  // As it came: the service checks the signature over exactly these bytes.
  return client.request({ method: "eth_signTypedData_v4", params: [account, JSON.stringify(action.typedData)] });
};

/**
 * Waits until the chain has the transaction. Answers with the hash under which it was mined, another one where the wallet sped it
 * up; with null when it was reverted.
 * @throws when it is not there in time
 */
export const untilMined = async (config: Config, chainId: number, hash: string): Promise<Hex | null> => {
  const client = getPublicClient(config, { chainId });
  if (client === undefined) throw new Error("This chain is not configured.");
  const receipt = await client.waitForTransactionReceipt({
    hash: hash as Hex,
    timeout: RECEIPT_TIMEOUT_MS,
    pollingInterval: RECEIPT_POLL_MS,
  });
  return receipt.status === "success" ? receipt.transactionHash : null;
};
