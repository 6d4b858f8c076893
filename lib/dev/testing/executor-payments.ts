/** Payments of the service's own account, for tests of how its transactions are stored and sent. */
import { keccak256, toHex, type Hex } from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { isDomainError } from "@/lib/core/errors";
import type { NewTransaction } from "@/lib/chain/ports/transactions";
import { createMemorySigner } from "./memory-signer";

export const GWEI = 10n ** 9n;
const TRANSFER_GAS = 21_000n;

/** A distinct address for each purpose, which only this test uses. */
const recipientOf = (purpose: string): Hex => `0x${keccak256(toHex(purpose)).slice(26)}`;

/** Makes payments of 5 wei on one chain, each with a distinct purpose. */
export const paymentsOn = (chainId: number) => {
  let purposes = 0;
  return (fees: Partial<NewTransaction["fees"]> = {}): NewTransaction => {
    const purpose = `test:${String((purposes += 1))}`;
    return {
      chainId,
      keyId: "executor",
      purpose,
      to: recipientOf(purpose),
      data: "0x",
      value: 5n,
      gas: TRANSFER_GAS,
      fees: { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI, ...fees },
    };
  };
};

/** The code of the DomainError with which work fails. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const outcome = await work.then(
    () => "no error",
    (error: unknown) => error,
  );
  return isDomainError(outcome) ? outcome.code : String(outcome);
};

/** Returns the input with which the repository stores and signs a payment before its broadcast. */
export const signedOnly = (
  { chainId, purpose, to, data, value, gas, fees }: NewTransaction,
  { executorKey, firstNonce, now }: { executorKey: Hex; firstNonce: bigint; now: Date },
) => ({
  row: {
    id: `txn_${purpose}`,
    from: privateKeyToAddress(executorKey),
    createdAt: now,
    ...{ chainId, purpose, to, data, value, gas },
  },
  carries: [],
  firstNonce,
  sign: async (nonce: bigint) => {
    const raw = await createMemorySigner({ executor: executorKey }).signTransaction(
      { keyId: "executor", projectId: null },
      { type: "eip1559", chainId, to, value, gas, ...fees, nonce: Number(nonce) },
    );
    return { nonce, ...fees, raw, hash: keccak256(raw) };
  },
});

/**
 * A fetch that replaces the answers to broadcasts.
 * @param reachesNode whether the broadcast is still sent to the node
 */
export const answeringWith =
  (reachesNode: boolean, answer: () => Promise<Response>): typeof fetch =>
  async (input, init) => {
    const isBroadcast =
      typeof init?.body === "string" && init.body.includes("eth_sendRawTransaction");
    if (!isBroadcast) return fetch(input, init);
    if (reachesNode) await fetch(input, init);
    return answer();
  };

/** A signed payment with the account's first nonce that the service does not know. */
export const paidElsewhere = (chainId: number, executorKey: Hex): Promise<Hex> =>
  privateKeyToAccount(executorKey).signTransaction({
    type: "eip1559",
    chainId,
    to: recipientOf("elsewhere"),
    nonce: 0,
    gas: TRANSFER_GAS,
    maxFeePerGas: 10n * GWEI,
    maxPriorityFeePerGas: GWEI,
  });
