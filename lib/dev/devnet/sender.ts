import {
  numberToHex,
  type Address,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { z } from "zod";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { minedReceipt } from "./mined-receipt";

const ATTEMPTS_MAX = 5;
const RECEIPT_TIMEOUT_MS = 15_000;
/**
 * Adds a margin to an estimate of gas, because the estimate uses the present state and other
 * transactions may be mined first.
 */
const gasWithMargin = (estimate: bigint): bigint => (estimate * 13n) / 10n + 20_000n;
/**
 * Fee of every transaction, in wei per gas. When two processes send transactions of one account
 * with the same nonce, the node keeps the first and refuses the second, and the second is sent
 * again with another nonce. With a higher fee, the second transaction would replace the first.
 */
const MAX_FEE_PER_GAS = 1_000_000_000_000n;

export interface SendRequest {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

/**
 * Sends from an account that the node has unlocked, and assigns its nonces. Safe for concurrent
 * callers.
 */
export interface UnlockedSender {
  readonly address: Address;
  /**
   * Simulates, sends, and waits until the transaction is mined.
   * @throws viem's error with the revert reason; Error when it is mined and reverted, or not mined
   * in time
   */
  send(request: SendRequest): Promise<TransactionReceipt>;
}

const hash = z.custom<Hex>(
  (value) => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value),
  "is not a hash",
);
type Request = (call: { method: string; params: readonly unknown[] }) => Promise<unknown>;

export const createUnlockedSender = (
  client: PublicClient,
  address: Address,
): UnlockedSender => {
  // viem types only read methods for a public client, but a development node also signs.
  const request = client.request as Request;
  // One transaction at a time, until it is mined: the node reads and reserves a nonce in two steps,
  // and anvil without a gate (`journal/gated-chain.ts`) may forget a transaction that arrives while
  // the previous one is mined.
  const sends = createKeyedQueue();
  const submit = async (call: SendRequest, gas: bigint): Promise<Hex> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const sent = await request({
          method: "eth_sendTransaction",
          params: [
            {
              from: address,
              to: call.to,
              data: call.data ?? "0x",
              value: numberToHex(call.value ?? 0n),
              gas: numberToHex(gas),
              maxFeePerGas: numberToHex(MAX_FEE_PER_GAS),
              maxPriorityFeePerGas: "0x1",
            },
          ],
        });
        return hash.parse(sent);
      } catch (error) {
        if (attempt >= ATTEMPTS_MAX) throw error;
      }
    }
  };
  const mined = async (sent: Hex): Promise<TransactionReceipt> => {
    const receipt = await minedReceipt(client, sent, RECEIPT_TIMEOUT_MS);
    if (receipt.status !== "success")
      throw new Error(`Transaction ${receipt.transactionHash} reverted.`);
    return receipt;
  };
  return {
    address,
    send: async (call) => {
      const estimate = await client.estimateGas({ account: address, ...call });
      return sends.run(address, async () => mined(await submit(call, gasWithMargin(estimate))));
    },
  };
};
