import { numberToHex, type Hex } from "viem";
import type { z } from "zod";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import type { estimateAnswer } from "./schema";

/** Encodes the operation for ERC-7769: quantities in hex, absent fields omitted. */
export const toRpcOperation = (operation: UserOperation): Record<string, Hex> => ({
  sender: operation.sender,
  nonce: numberToHex(operation.nonce),
  callData: operation.callData,
  callGasLimit: numberToHex(operation.callGasLimit),
  verificationGasLimit: numberToHex(operation.verificationGasLimit),
  preVerificationGas: numberToHex(operation.preVerificationGas),
  maxFeePerGas: numberToHex(operation.maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(operation.maxPriorityFeePerGas),
  signature: operation.signature,
  ...(operation.factory === undefined
    ? {}
    : { factory: operation.factory, factoryData: operation.factoryData ?? "0x" }),
  ...(operation.paymaster === undefined
    ? {}
    : {
        paymaster: operation.paymaster,
        paymasterVerificationGasLimit: numberToHex(operation.paymasterVerificationGasLimit ?? 0n),
        paymasterPostOpGasLimit: numberToHex(operation.paymasterPostOpGasLimit ?? 0n),
        paymasterData: operation.paymasterData ?? "0x",
      }),
});

export const toGas = (answer: z.output<typeof estimateAnswer>): UserOperationGas => ({
  callGasLimit: answer.callGasLimit,
  verificationGasLimit: answer.verificationGasLimit,
  preVerificationGas: answer.preVerificationGas,
  paymasterVerificationGasLimit: answer.paymasterVerificationGasLimit ?? 0n,
  paymasterPostOpGasLimit: answer.paymasterPostOpGasLimit ?? 0n,
});
