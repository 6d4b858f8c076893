import { isHex } from "viem";
import { z } from "zod";

const hex = z.string().refine((text): text is `0x${string}` => isHex(text), "must be hex");
const quantity = hex.transform((text) => (text === "0x" ? 0n : BigInt(text)));

/** JSON-RPC 2.0. */
export const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/** Answers of ERC-7769 (the JSON-RPC of ERC-4337), reduced to the fields that this adapter reads. */
export const sendAnswer = hex;

export const estimateAnswer = z.object({
  preVerificationGas: quantity,
  verificationGasLimit: quantity,
  callGasLimit: quantity,
  paymasterVerificationGasLimit: quantity.nullish(),
  paymasterPostOpGasLimit: quantity.nullish(),
});

export const operationAnswer = z.object({ userOperation: z.unknown() }).nullable();

/** `pimlico_getUserOperationStatus`. */
export const statusAnswer = z.object({ status: z.string() });

export const receiptAnswer = z.object({ receipt: z.object({ transactionHash: hex }) }).nullable();

/** `pimlico_getUserOperationGasPrice`. */
export const gasPriceAnswer = z.object({
  fast: z.object({ maxFeePerGas: quantity, maxPriorityFeePerGas: quantity }),
});
