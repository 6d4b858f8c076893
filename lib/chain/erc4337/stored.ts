import { z } from "zod";
import { storedAddress, storedBase, storedHex } from "@/lib/platform/db/codecs";

/** A stored user operation (ERC-4337). @throws ZodError */
export const storedUserOperation = z.object({
  sender: storedAddress,
  nonce: storedBase,
  factory: storedAddress.optional(),
  factoryData: storedHex.optional(),
  callData: storedHex,
  callGasLimit: storedBase,
  verificationGasLimit: storedBase,
  preVerificationGas: storedBase,
  maxFeePerGas: storedBase,
  maxPriorityFeePerGas: storedBase,
  paymaster: storedAddress.optional(),
  paymasterVerificationGasLimit: storedBase.optional(),
  paymasterPostOpGasLimit: storedBase.optional(),
  paymasterData: storedHex.optional(),
  signature: storedHex,
});

/** Stored gas limits of a user operation. @throws ZodError */
export const storedGas = z.object({
  callGasLimit: storedBase,
  verificationGasLimit: storedBase,
  preVerificationGas: storedBase,
  paymasterVerificationGasLimit: storedBase,
  paymasterPostOpGasLimit: storedBase,
  unusedGas: storedBase.optional(),
});
